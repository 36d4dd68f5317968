import { AppError } from '../core/error.ts'
import { Closed, parser, type TSchema } from '../core/schema.ts'
import { type Db, tx } from '../store/database.ts'
import { PERMISSIONS } from './permission.ts'
import { Questions } from './questions.ts'
import type { Call, Route } from './route.ts'

/** Keeps an act in the audit log; called inside its transaction where it has one. */
export type Audit = (act: { route: Route; call: Call; answer: unknown }) => void

/** Carries out a call of a route, and answers what the route answers. */
export type Perform = (route: Route, call: Call, options?: { dryRun?: boolean }) => unknown

export interface PerformParts {
  db: Db
  audit: Audit
  /** Where callers wait for their turn. */
  questions?: Questions
}

/** Carries the answer of a dry run out of the transaction that is rolled back. */
class DryRun extends Error {
  constructor(readonly answer: unknown) {
    super('rolled back')
  }
}

const NOTHING = Closed({})
const parsers = new WeakMap<TSchema, (value: unknown, root?: string) => unknown>()

function parse(schema: TSchema, value: unknown, root: string): unknown {
  const known = parsers.get(schema) ?? parser(schema)
  parsers.set(schema, known)
  return known(value, root)
}

function checked(route: Route, call: Call): Call {
  const { params, query, body } = route
  return {
    ...call,
    params: params ? parse(params, call.params, 'path') : {},
    query: parse(query ?? NOTHING, call.query, 'query'),
    body: body ? parse(body, call.body, '') : undefined,
  }
}

/** An answer outside its schema is a bug of ours, whoever asked. */
function checkAnswer({ id, answer, produces }: Route, value: unknown): unknown {
  if (produces) return value
  try {
    return parse(answer, value, '')
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new Error(`the answer of ${id} does not fit its schema: ${error.message}`)
  }
}

/**
 * The one way in which a route is carried out, whoever asks: by HTTP or as a tool. What came is held against the
 * route's schemas first. A question to the event history waits for its turn. A route that writes runs in one transaction with its entry in the audit log; with `dryRun` the
 * transaction is rolled back, and the answer says what would have been. Fails with the `AppError` of what is refused.
 */
export function performer({ db, audit, questions = new Questions() }: PerformParts): Perform {
  return (route, raw, { dryRun = false } = {}) => {
    const call = checked(route, raw)
    const { writes, audited } = PERMISSIONS[route.access]
    const complete = (answer: unknown) => {
      if (audited) audit({ route, call, answer })
      return checkAnswer(route, answer)
    }
    const done = (answer: unknown) => {
      route.after?.(call, answer)
      return answer
    }
    if (!writes || route.asynchronous) {
      if (dryRun) throw new Error(`${route.id} can't be tried without effect`)
      const answer = route.question ? questions.ask(call, async () => route.handle(call)) : route.handle(call)
      return answer instanceof Promise ? answer.then(complete).then(done) : done(complete(answer))
    }
    try {
      const answer = tx(db, () => {
        const answer = complete(route.handle(call))
        if (dryRun) throw new DryRun(answer)
        return answer
      })
      return done(answer)
    } catch (error) {
      if (error instanceof DryRun) return error.answer
      throw error
    }
  }
}
