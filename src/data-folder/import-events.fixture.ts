import { DuckDBInstance } from '@duckdb/node-api'

/** Writes the result of a SELECT to a Parquet file, as another program would. */
export async function parquetOf(path: string, select: string): Promise<void> {
  const engine = await DuckDBInstance.create(':memory:')
  const connection = await engine.connect()
  await connection.run(`COPY (${select}) TO '${path}' (FORMAT parquet)`)
  connection.closeSync()
  engine.closeSync()
}
