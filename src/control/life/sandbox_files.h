/* sandbox_files.h: which files the process may open: Landlock of Linux,
 * nothing elsewhere. */
#ifndef PEN_CONTROL_SANDBOX_FILES_H
#define PEN_CONTROL_SANDBOX_FILES_H

enum sandbox_use {
	SANDBOX_READ,
	SANDBOX_WRITE /* and read; files of a directory are made and removed */
};

/* A set of rules without a rule. -1 with errno: the kernel has none. */
int sandbox_files_new(void);
/* A file, or a directory and all below it; one that is not there is left
 * out. */
void sandbox_files_add(int rules, const char *path, enum sandbox_use use);
/* From now on this process can open no other file; closes `rules`. Returns 0,
 * or -1 with errno. */
int sandbox_files_enter(int rules);

#endif
