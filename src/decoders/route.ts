import type { Route } from './decoder.ts'
import { type Params, scalarOrNull } from './params.ts'

/**
 * A request that loads the vendor's code or configuration. `account` is the query key that names the account; without
 * it the group `(?<account>…)` of the path is the account, if there is one.
 */
export function scriptLoad(path: RegExp, account?: string): Route {
  return {
    path,
    read(request) {
      const named = account ? request.query[account] : path.exec(request.path)?.groups?.account
      return [{ event: '', account: scalarOrNull(named), kind: 'library', params: request.query }]
    },
  }
}

/** A request of the vendor that carries no event: it repeats one, synchronises ids, reports on the code itself. */
export function sideChannel(path: RegExp): Route {
  return { path, read: () => [] }
}

/** One event in the query string, or in a form body in its place. `event` is the key of its name, or works it out. */
export function pixel(path: RegExp, keys: { account: string; event: string | ((params: Params) => string) }): Route {
  return {
    path,
    read({ fields }) {
      const event = typeof keys.event === 'string' ? (fields[keys.event] ?? '') : keys.event(fields)
      return [{ event, account: scalarOrNull(fields[keys.account]), params: fields }]
    },
  }
}
