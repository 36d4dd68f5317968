import { MAX_PAGE_SIZE } from '../contract/limits.ts'
import { AppError } from '../core/error.ts'
import { Int, Nullable, OneOf, Type } from '../core/schema.ts'
import { type Db, prepared } from '../store/database.ts'

export const DEFAULT_LIMIT = 50

/** Query parameters that every list accepts. */
export const pagingFields = {
  limit: Type.Optional(Int({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_LIMIT })),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
}

type Reversible<Field extends string> = Field | `-${Field}`

/** Query parameter `sort` of a list that can be sorted by these fields. */
export const sortField = <const Field extends string>(fields: readonly Field[], byDefault?: Reversible<Field>) =>
  Type.Optional(
    OneOf(
      fields.flatMap((field): Reversible<Field>[] => [field, `-${field}`]),
      {
        ...(byDefault === undefined ? {} : { default: byDefault }),
        description: 'Field to sort by; with `-` in descending order. Missing values are the lowest',
      },
    ),
  )

/** Returns the field in a value of `sort`, and whether the order is descending. */
export function fieldOfSort<Field extends string>(sort: Reversible<Field>): { field: Field; descending: boolean } {
  const descending = sort.startsWith('-')
  return { field: (descending ? sort.slice(1) : sort) as Field, descending }
}

/** Schema of the field `nextCursor`, which the response of every list has. */
export const NextCursorSchema = Nullable(Type.String())

/** The requested page of a list: at most `limit` items after `cursor`. Without a cursor, the first page. */
export interface PageRequest {
  /** Default: 50. */
  limit?: number | undefined
  cursor?: string | undefined
}

/** One page of a list. */
export interface Page<T> {
  items: T[]
  /** Cursor of the next page; null on the last page. */
  nextCursor: string | null
}

/** A list that `readPage` reads from the database. */
export interface ListQuery<Row, Item> {
  /** SELECT statement of the whole list. Ends in a WHERE clause whose conditions are joined by AND. */
  sql: string
  /** Values of the parameters in `sql`. */
  values: object
  /** Selected column with unique values by which the list is sorted. */
  sortBy: keyof Row & string
  /** True when the list is sorted in descending order. Default: ascending. */
  descending?: boolean
  /** The requested `sort`; rows with the same value are sorted by `sortBy`. Default: sorted only by `sortBy`. */
  sort?: string | undefined
  /** SQL expression of each field in `sort`, over the selected columns. Must not be null. */
  orders?: Readonly<Record<string, string>>
  itemOf(row: Row): Item
}

/** Reads one page of a list from the database. Throws `invalid` for a cursor from another list. */
export function readPage<Row, Item>(
  db: Db,
  { cursor, limit = DEFAULT_LIMIT }: PageRequest,
  { sql, values, sortBy, descending = false, sort, orders = {}, itemOf }: ListQuery<Row, Item>,
): Page<Item> {
  if (sort !== undefined) return sortedPage(db, { cursor, limit }, { sql, values, sortBy, sort, orders, itemOf })
  const after = decodeCursor(cursor, 1)?.[0] ?? null
  const [follows, order] = descending ? ['<', 'DESC'] : ['>', 'ASC']
  const rows = prepared<[object], Row>(
    db,
    `${sql} AND (@after IS NULL OR ${sortBy} ${follows} @after) ORDER BY ${sortBy} ${order} LIMIT @limit + 1`,
  ).all({ ...values, after, limit })
  const { items, nextCursor } = page(rows, limit, (row) => [row[sortBy] as string | number])
  return { items: items.map(itemOf), nextCursor }
}

/** Reads a page of a list that is sorted by an expression, and by the unique column for equal values. */
function sortedPage<Row, Item>(
  db: Db,
  { cursor, limit }: { cursor: string | undefined; limit: number },
  {
    sql,
    values,
    sortBy,
    sort,
    orders,
    itemOf,
  }: Required<Omit<ListQuery<Row, Item>, 'descending' | 'sort'>> & { sort: string },
): Page<Item> {
  const { field, descending } = fieldOfSort(sort)
  const order = orders[field]
  if (order === undefined) throw new Error(`no order for ${field}`)
  const place = decodeCursor(cursor, 3)
  if (place && place[0] !== sort) throw new AppError('invalid', `cursor: is not valid for a list sorted by ${sort}`)
  const [follows, direction] = descending ? ['<', 'DESC'] : ['>', 'ASC']
  const after = place ? `WHERE (${order}, ${sortBy}) ${follows} (@afterValue, @after)` : ''
  const rows = prepared<[object], Row & { sortValue: string | number }>(
    db,
    `SELECT *, ${order} AS sortValue FROM (${sql}) ${after}
     ORDER BY ${order} ${direction}, ${sortBy} ${direction} LIMIT @limit + 1`,
  ).all({ ...values, limit, ...(place ? { afterValue: place[1], after: place[2] } : {}) })
  const { items, nextCursor } = page(rows, limit, (row) => [sort, row.sortValue, row[sortBy] as string | number])
  return { items: items.map(({ sortValue: _, ...row }) => itemOf(row as Row)), nextCursor }
}

/** Returns an opaque cursor that contains the sort values of the last item of a page. */
export function encodeCursor(place: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url')
}

/**
 * Returns the sort values in a cursor; null without a cursor. Throws `invalid` for a cursor that does not belong to
 * this list.
 */
export function decodeCursor(cursor: string | undefined, length: number): (string | number | null)[] | null {
  if (cursor === undefined) return null
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    const isPart = (part: unknown) => part === null || typeof part === 'string' || Number.isFinite(part)
    if (Array.isArray(place) && place.length === length && place.every(isPart)) return place
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new AppError('invalid', 'cursor: is not valid for this list')
}

/** Creates a page from up to `limit + 1` rows. The page has at most `limit` items, and the cursor of the next page. */
export function page<T>(rows: T[], limit: number, placeOf: (row: T) => (string | number | null)[]): Page<T> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last !== undefined ? encodeCursor(placeOf(last)) : null }
}
