declare module '@duckdb/node-bindings-linux-x64/*' {
  const path: string
  export default path
}
