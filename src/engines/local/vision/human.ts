// The package whose networks find faces and things. Its files are read; its code, which would fetch them by address, is not run.

export const humanPackage = "@vladmandic/human";
