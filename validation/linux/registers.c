/* Lets User Mode Linux 6.1 run where processors have more registers than it has room for.
 *
 * It has room for those of AVX-512. Where there are AMX's too, it is given as many as fit, and cannot
 * write them back: Linux takes all or none, and the guest stops before its init (EFAULT). Here what
 * does not fit is read from the process and written back as it was. To be loaded by LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Not on the stack, for that of a kernel's thread is small; it calls one at a time. */
static unsigned char all[1 << 16];

long ptrace(enum __ptrace_request request, ...)
{
	static long (*next)(enum __ptrace_request, ...);
	va_list arguments;
	va_start(arguments, request);
	pid_t pid = va_arg(arguments, pid_t);
	void *address = va_arg(arguments, void *);
	void *data = va_arg(arguments, void *);
	va_end(arguments);

	if (!next)
		next = (long (*)(enum __ptrace_request, ...))dlsym(RTLD_NEXT, "ptrace");
	if ((request != PTRACE_GETREGSET && request != PTRACE_SETREGSET) ||
	    (long)address != NT_X86_XSTATE)
		return next(request, pid, address, data);

	struct iovec *asked = data, whole = {all, sizeof all};
	long result = next(PTRACE_GETREGSET, pid, address, &whole);
	if (result < 0)
		return result;
	if (asked->iov_len > whole.iov_len)
		asked->iov_len = whole.iov_len;
	if (request == PTRACE_GETREGSET) {
		memcpy(asked->iov_base, all, asked->iov_len);
		return result;
	}
	memcpy(all, asked->iov_base, asked->iov_len);
	return next(PTRACE_SETREGSET, pid, address, &whole);
}
