// The package with the networks for faces and objects. Only its model files are used; its code, which downloads them, is not run.

export const humanPackage = "@vladmandic/human";
