/* pfm_list_supported_pmus() calls a printf-like function; Python's side takes the
 * format and its one string argument, or NULL. */
extern "Python" int pypfm_pfm3_print(const char *format, const char *argument);
pfm_err_t pypfm_pfm3_list(void);
/* ---- code ---- */
#include <stdarg.h>
#include <string.h>

static int pypfm_pfm3_print(const char *format, const char *argument);

static int
pypfm_pfm3_vprint(const char *format, ...)
{
	const char *argument = NULL;
	va_list args;
	int ret;

	va_start(args, format);
	if (strstr(format, "%s"))
		argument = va_arg(args, const char *);
	ret = pypfm_pfm3_print(format, argument);
	va_end(args);
	return ret;
}

static pfm_err_t
pypfm_pfm3_list(void)
{
	return pfm_list_supported_pmus(pypfm_pfm3_vprint);
}
