declare module '*.html' {
  const text: string
  export default text
}

/** Draws the documentation of the API; loaded as text, to be served. */
declare module 'rapidoc/dist/rapidoc-min.js' {
  const text: string
  export default text
}
