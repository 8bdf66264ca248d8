# uninstall.sh INSTALLED: removes the files that the list INSTALLED names, and those of pypfm's directories that are empty then.
#
# What somebody else has put there stays, and the directories with it.  A list of which something could not be
# removed stays, too.  In the shell, not in CMake: there a name with [ or ; is not one name, and rmdir looks itself what is empty.
list=$1
if [ ! -e "$list" ]; then
	echo "there is no $list: nothing was installed from this build directory" >&2
	exit 1
fi
failed=
while IFS= read -r file; do
	if [ -e "$file" ] || [ -L "$file" ]; then
		if ! rm -f -- "$file"; then
			failed=yes
			continue
		fi
		echo "Removed $file"
	fi
	directory=${file%/*}
	while case $directory in */pypfm | */pypfm/* | */doc/pypfm-*) rmdir -- "$directory" 2>/dev/null ;; *) false ;; esac; do
		directory=${directory%/*}
	done
done <"$list"
if [ "$failed" ]; then
	echo "not everything could be removed; $list still names all of it" >&2
	exit 1
fi
rm -- "$list"
