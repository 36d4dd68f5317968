import type { Instant } from '../core/clock.ts'
import { INTERNAL_ORG_ID } from '../org/internal-org.ts'
import { type Db, prepared, tx } from '../store/database.ts'

/** A value in a copied row. */
type Cell = string | number | null

/** A row that was changed; `row` is null when it was deleted or is no longer copied. */
export interface ChangedRow {
  table: CopiedTable
  /** Values of the key columns, in order. */
  key: Cell[]
  row: Record<string, Cell> | null
}

/** Changed rows, oldest change first. */
export interface RowChanges {
  rows: ChangedRow[]
  /** Version of the last of these rows; the next request continues after it. */
  version: number
  /** True when more rows have changed since. */
  hasMore: boolean
}

/** A position in the feed of a control node. */
export interface FeedPosition {
  epoch: number
  version: number
}

interface CopiedColumns {
  key: readonly string[]
  /** SQL of the other columns. */
  columns: Readonly<Record<string, string>>
  /** SQL of columns that a collector doesn't need, in its copy. */
  constants?: Readonly<Record<string, string>>
  /** Condition for rows that are copied. Default: all rows. */
  where?: string
}

const NOT_INTERNAL = `orgId <> '${INTERNAL_ORG_ID}'`
const DOMAIN_NOT_INTERNAL = `domainId IN (SELECT id FROM domain WHERE ${NOT_INTERNAL})`

const same = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]))

/**
 * The tables from which a collector answers requests, in the order of their references. Secrets stay on the control
 * node.
 */
const TABLES = {
  org: {
    key: ['id'],
    columns: same('name', 'customerSalt', 'phoneRegions', 'piiPatterns', 'createdAt'),
    constants: { webhookSecret: "x''" },
    where: `id <> '${INTERNAL_ORG_ID}'`,
  },
  domain: {
    key: ['id'],
    columns: {
      ...same('orgId', 'name', 'system', 'token', 'previousToken', 'previousTokenUntil', 'vendors', 'createdAt'),
      ...same('routingMode', 'collectHostname', 'collectStatus', 'devRate', 'prodRate', 'allowManualMonitoring'),
      ...same('captureEnabled', 'captureProdRate', 'captureDevRate', 'sessionMode', 'monitoredUrls'),
    },
    where: NOT_INTERNAL,
  },
  hostname: {
    key: ['domainId', 'hostname'],
    columns: same('status'),
    where: `status = 'denied' AND ${DOMAIN_NOT_INTERNAL}`,
  },
  alert: {
    key: ['id'],
    columns: {
      ...same('orgId', 'enabled', 'cost', 'createdAt', 'updatedAt'),
      input: `json_remove(input, '$.channels')`,
    },
    constants: { evaluatedThrough: '0', windowStartAt: '0' },
    where: NOT_INTERNAL,
  },
  label: { key: ['id'], columns: same('orgId', 'name', 'nameKey', 'color', 'kind', 'createdAt') },
  labelMember: { key: ['labelId', 'vendor', 'event'], columns: {} },
  countedName: { key: ['domainId', 'vendor', 'event'], columns: same('events', 'lastDay'), where: DOMAIN_NOT_INTERNAL },
} satisfies Record<string, CopiedColumns>

export type CopiedTable = keyof typeof TABLES

const definitionOf = (table: CopiedTable): CopiedColumns => TABLES[table]

/** Names of the copied tables. */
export const COPIED_TABLES = Object.keys(TABLES) as readonly CopiedTable[]

/** Maximum number of rows per request. Reading them takes a few milliseconds. */
const MAX_ROWS = 1000

/** Returns up to `MAX_ROWS` rows that have changed after a version; 0 for all rows. */
export function changedRows(db: Db, after: number): RowChanges {
  const found = prepared<[number, number], { version: number; tableName: CopiedTable; key: string }>(
    db,
    'SELECT version, tableName, key FROM rowVersion WHERE version > ? ORDER BY version LIMIT ?',
  ).all(after, MAX_ROWS + 1)
  const page = found.slice(0, MAX_ROWS)
  return {
    rows: page.map(({ tableName, key }) => ({
      table: tableName,
      key: JSON.parse(key),
      row: rowOf(db, tableName, key),
    })),
    version: page.at(-1)?.version ?? after,
    hasMore: found.length > MAX_ROWS,
  }
}

/** Returns the version of the most recent change; 0 without any. */
export function latestVersion(db: Db): number {
  const row = prepared<[], { version: number | null }>(db, 'SELECT max(version) AS version FROM rowVersion').get()
  return row?.version ?? 0
}

function rowOf(db: Db, table: CopiedTable, key: string): ChangedRow['row'] {
  const { key: names, columns, where = 'true' } = definitionOf(table)
  const cells = [...names.map((name) => [name, name]), ...Object.entries(columns)]
  const matches = names.map((name, index) => `${name} = json_extract(@key, '$[${index}]')`).join(' AND ')
  const list = cells.map(([name, sql]) => `${sql} AS ${name}`).join(', ')
  const sql = `SELECT ${list} FROM ${table} WHERE ${matches} AND ${where}`
  return prepared<[object], Record<string, Cell>>(db, sql).get({ key }) ?? null
}

/** Writes changed rows to a collector's copy, in one transaction together with `also`. Idempotent. */
export function applyRows(db: Db, rows: readonly ChangedRow[], also: () => void): void {
  tx(db, () => {
    // A row can precede one that it references, when that one has changed again since.
    db.pragma('defer_foreign_keys = ON')
    for (const { table, key, row } of rows) {
      const { key: names } = definitionOf(table)
      if (row) put(db, table, row)
      else remove(db, table, names, key)
    }
    also()
  })
}

/** Replaces a collector's copy by all rows, in one transaction together with `also`. */
export function replaceRows(db: Db, rows: readonly ChangedRow[], also: () => void): void {
  tx(db, () => {
    db.pragma('defer_foreign_keys = ON')
    const present = Map.groupBy(rows, ({ table }) => table)
    for (const table of COPIED_TABLES) {
      const keys = present.get(table)?.flatMap(({ key, row }) => (row ? [key] : [])) ?? []
      const names = definitionOf(table).key
      db.prepare(
        `DELETE FROM ${table} WHERE json_array(${names.join(', ')}) NOT IN (SELECT json(value) FROM json_each(?))`,
      ).run(JSON.stringify(keys))
    }
    applyRows(db, rows, also)
  })
}

function put(db: Db, table: CopiedTable, row: Record<string, Cell>): void {
  const { key, columns, constants = {} } = definitionOf(table)
  const names = [...key, ...Object.keys(columns)]
  const updates = Object.keys(columns).map((name) => `${name} = excluded.${name}`)
  const conflict = updates.length > 0 ? `UPDATE SET ${updates.join(', ')}` : 'NOTHING'
  prepared<[object]>(
    db,
    `INSERT INTO ${table} (${[...names, ...Object.keys(constants)].join(', ')})
     VALUES (${[...names.map((name) => `@${name}`), ...Object.values(constants)].join(', ')})
     ON CONFLICT (${key.join(', ')}) DO ${conflict}`,
  ).run(row)
}

function remove(db: Db, table: CopiedTable, names: readonly string[], key: readonly Cell[]): void {
  prepared<Cell[]>(db, `DELETE FROM ${table} WHERE ${names.map((name) => `${name} = ?`).join(' AND ')}`).run(...key)
}

/**
 * Returns the epoch of a control node. It grows when the data folder was restored or copied since the last start, because
 * versions may then have been used before. `folder` identifies the folder and its state.
 */
export function epochOf(db: Db, folder: string, now: Instant): number {
  return tx(db, () => {
    const row = prepared<[], { epoch: number; folder: string }>(db, 'SELECT epoch, folder FROM rowFeed').get()
    if (row?.folder === folder) return row.epoch
    const epoch = Math.max((row?.epoch ?? 0) + 1, now)
    prepared(db, 'INSERT OR REPLACE INTO rowFeed (only, epoch, folder) VALUES (1, ?, ?)').run(epoch, folder)
    return epoch
  })
}
