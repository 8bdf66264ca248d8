/*
 * Turn event strings into raw codes: what goes into the event select register, and for
 * offcore events what goes into the second register.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <perfmon/pfmlib.h>

int
main(int argc, char **argv)
{
	pfm_pmu_encode_arg_t arg;
	char *fstr;
	int i, n, ret;

	ret = pfm_initialize();
	if (ret != PFM_SUCCESS)
		errx(1, "cannot initialize the library: %s", pfm_strerror(ret));
	for (i = 1; i < argc; i++) {
		memset(&arg, 0, sizeof(arg));
		arg.size = sizeof(arg);
		arg.fstr = &fstr;
		fstr = NULL;
		ret = pfm_get_os_event_encoding(argv[i], PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &arg);
		if (ret != PFM_SUCCESS) {
			printf("%s: %s\n", argv[i], pfm_strerror(ret));
			continue;
		}
		for (n = 0; n < arg.count; n++)
			printf("0x%" PRIx64 " ", arg.codes[n]);
		printf("%s\n", fstr);
		free(fstr);
		free(arg.codes);
	}
	pfm_terminate();
	return 0;
}
