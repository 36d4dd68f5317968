declare module '*.har' {
  const text: string
  export default text
}
