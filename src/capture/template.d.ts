/** The tag-manager template, as text. */
declare module '*.tpl' {
  const text: string
  export default text
}
