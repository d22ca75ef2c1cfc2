/** A group of engines could not be installed. The message is for the person who ran the command. */
export class GroupError extends Error {}
