import { AppError } from '../core/error.ts'
import { Closed, parser, type TSchema } from '../core/schema.ts'
import { type Db, tx } from '../store/database.ts'
import { countChangedRows } from '../store/watch-table-rows.ts'
import { PERMISSIONS } from './permission.ts'
import { QueryLimiter } from './query-limiter.ts'
import { hasReadOnlyFields, omitReadOnlyFields } from './read-only-fields.ts'
import type { Call, Route } from './route.ts'

/** Writes a call to the audit log, inside the call's transaction if it has one. */
export type Audit = (act: { route: Route; call: Call; answer: unknown }) => void

/** Performs a call of a route. Returns the route's result or a promise of it. */
export type Perform = (route: Route, call: Call, options?: { dryRun?: boolean }) => unknown

/** A call of a `DELETE` route. */
export interface Deletion {
  route: Route
  call: Call
  /** Number of rows that were deleted, or changed because of the deletion. Null for asynchronous routes. */
  rows: number | null
}

export interface PerformDeps {
  db: Db
  audit: Audit
  /** Called after a call of a `DELETE` route has been committed. */
  deleted?(act: Deletion): void
  /** The queue for calls that query the event history. */
  queryLimiter?: QueryLimiter
}

/** Thrown to roll back the transaction of a dry run. Contains the result. */
class DryRun extends Error {
  constructor(readonly answer: unknown) {
    super('rolled back')
  }
}

const NOTHING = Closed({})
const parsers = new WeakMap<TSchema, (value: unknown, root?: string) => unknown>()

function parse(schema: TSchema, value: unknown, root: string): unknown {
  const parseValue = parsers.get(schema) ?? parser(schema)
  parsers.set(schema, parseValue)
  return parseValue(value, root)
}

function checked(route: Route, call: Call): Call {
  const { params, query, body, unparsed } = route
  return {
    ...call,
    params: params ? parse(params, call.params, 'path') : {},
    query: parse(query ?? NOTHING, call.query, 'query'),
    body: body && !unparsed ? parse(body, call.body, '') : call.body,
  }
}

/**
 * Returns the result. Throws a plain `Error`, not an `AppError`, when the result does not match its schema, because a
 * mismatch is a bug.
 */
function checkAnswer({ id, answer, produces }: Route, value: unknown): unknown {
  if (produces) return value
  try {
    return parse(answer, value, '')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new Error(`the response of ${id} does not match its schema: ${error.message}`)
  }
}

/**
 * Returns the function that performs every call, over HTTP or from an assistant. It checks the call against the route's
 * schemas and queues queries of the event history. A route that writes runs in one transaction together with its audit
 * log entry. With `dryRun`, the transaction is rolled back after the result has been created. Rejected calls throw
 * `AppError`.
 */
export function performer({ db, audit, deleted, queryLimiter = new QueryLimiter() }: PerformDeps): Perform {
  const performChecked = (route: Route, call: Call, dryRun: boolean): unknown => {
    const { writes } = PERMISSIONS[route.access]
    const complete = (answer: unknown) => {
      if (writes) audit({ route, call, answer })
      return checkAnswer(route, answer)
    }
    const isDeletion = route.method === 'DELETE'
    const done = (answer: unknown, rows: number | null = null) => {
      route.after?.(call, answer)
      if (isDeletion) deleted?.({ route, call, rows })
      return answer
    }
    if (!writes || route.asynchronous) {
      if (dryRun) throw new Error(`${route.id} does not support dry runs`)
      const lane = route.question === 'insights' ? 'insights' : 'search'
      const answer = route.question ? queryLimiter.ask(call, async () => route.handle(call), lane) : route.handle(call)
      return answer instanceof Promise ? answer.then((value) => done(complete(value))) : done(complete(answer))
    }
    const write = () => {
      try {
        const { answer, rows } = tx(db, () => {
          const handled = isDeletion
            ? countChangedRows(db, () => route.handle(call))
            : { result: route.handle(call), rows: null }
          const answer = complete(handled.result)
          if (dryRun) throw new DryRun(answer)
          return { answer, rows: handled.rows }
        })
        return done(answer, rows)
      } catch (error) {
        if (error instanceof DryRun) return error.answer
        throw error
      }
    }
    return route.before ? route.before(call).then(write) : write()
  }
  const perform: Perform = (route, raw, { dryRun = false } = {}) => {
    const { body, current } = route
    if (!body || !current || !hasReadOnlyFields(body, current.answer, raw.body)) {
      return performChecked(route, checked(route, raw), dryRun)
    }
    const withoutReadOnly = (present: unknown) => {
      const value = omitReadOnlyFields(body, current.answer, { value: raw.body, present })
      return performChecked(route, checked(route, { ...raw, body: value }), dryRun)
    }
    const present = perform(current, { ...raw, query: {}, body: undefined })
    return present instanceof Promise ? present.then(withoutReadOnly) : withoutReadOnly(present)
  }
  return perform
}
