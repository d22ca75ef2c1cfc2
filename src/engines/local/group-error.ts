/** A group of local engines could not be installed or removed. The command line prints the message unchanged, so the message says what failed. */
export class GroupError extends Error {}
