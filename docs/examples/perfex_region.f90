! libperfex: count two events in one part of a program, twice, and add them up.
program perfex_region
  implicit none
  integer*4, external :: start_counters, read_counters
  integer, parameter :: icache2_misses = 10, dcache2_misses = 26
  integer, parameter :: pages = 64, page = 4096, turns = 2
  integer*8 :: c0, c1, total0 = 0, total1 = 0
  integer*1, allocatable, volatile :: memory(:, :)
  integer :: turn

  allocate(memory(page, 0:turns * pages))
  do turn = 1, turns
    if (start_counters(icache2_misses, dcache2_misses) < 0) stop 'start_counters'
    ! One page fault a page, each time: others than the time before.
    memory(1, (turn - 1) * pages + 1:turn * pages) = 1
    if (read_counters(icache2_misses, c0, dcache2_misses, c1) < 0) stop 'read_counters'
    total0 = total0 + c0
    total1 = total1 + c1
  end do
  print '(a, i0, a, i0, a, a)', 'event ', icache2_misses, ': at least ', turns * pages, ': ', answer(total0)
  print '(a, i0, a, i0, a, a)', 'event ', dcache2_misses, ': at least ', turns * pages, ': ', answer(total1)

contains

  function answer(total)
    integer*8, intent(in) :: total
    character(:), allocatable :: answer

    answer = trim(merge('yes', 'no ', total >= turns * pages))
  end function answer
end program perfex_region
