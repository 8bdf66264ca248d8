! The functions as Fortran programs call them; the argument is a cost file.
program calls
  implicit none
  integer*4 :: start_counters, read_counters, print_counters, print_costs, load_costs
  external start_counters, read_counters, print_counters, print_costs, load_costs
  integer, parameter :: pages = 2000
  integer*8 :: c0, c1
  character*200 :: costs
  character*10 :: blanks
  integer*1, allocatable :: memory(:)
  integer :: i

  blanks = ' '
  if (start_counters(0, 26) .ne. 0) stop 1
  allocate(memory(pages * 4096))
  do i = 1, pages * 4096, 4096
    memory(i) = 1
  end do
  if (read_counters(0, c0, 26, c1) .ne. 0) stop 2
  if (c0 .le. 0 .or. c1 .lt. 1 .or. memory(1) .ne. 1) stop 3
  if (read_counters(0, c0, 26, c1) .ne. -1) stop 4
  if (start_counters(0, 15) .ne. -1) stop 5
  call get_command_argument(1, costs)
  if (load_costs(costs) .ne. 0) stop 6
  if (load_costs(trim(costs)//char(0)//'junk') .ne. 0) stop 7
  if (load_costs(blanks) .ne. -1) stop 8
  if (load_costs(trim(costs)//'x   ') .ne. -1) stop 9
  c0 = 1000000
  c1 = 5
  if (print_counters(0, c0, 26, c1) .ne. 0) stop 10
  if (print_costs(0, c0, 26, c1) .ne. 0) stop 11
end program calls
