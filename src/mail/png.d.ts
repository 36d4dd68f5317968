/** A PNG file, imported as its path. In the executable, it is the path of an embedded file. */
declare module '*.png' {
  const path: string
  export default path
}
