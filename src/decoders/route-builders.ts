import type { Route } from './decoder.ts'
import { type EmbeddedParam, withEmbedded } from './embedded-params.ts'
import { objectsIn } from './json.ts'
import { type Params, scalarOrNull, scalarText, sharedOf } from './params.ts'

/**
 * Returns a route for requests that load the vendor's code or configuration. `account` is the query key that contains
 * the account. If it is omitted, the account is the group `(?<account>…)` in the path, if there is one.
 */
export function scriptLoad(path: RegExp, account?: string): Route {
  return {
    path,
    carries: 'library',
    read(request) {
      const named = account ? request.query[account] : path.exec(request.path)?.groups?.account
      return [{ event: '', account: scalarOrNull(named), kind: 'library', params: request.query }]
    },
  }
}

/**
 * Returns a route for requests that contain no event: they repeat an event, synchronise ids, or report on the vendor's
 * own code.
 */
export function sideChannel(path: RegExp): Route {
  return { path, carries: 'nothing', read: () => [] }
}

/**
 * Returns a route for events that servers send: `{<list>: [event, …]}`. Fields next to the list, such as
 * `test_event_code`, are added to each event. The body is JSON, or a form in which the list is JSON text. `event` is
 * the key of an event's name, or a function that returns the name. If `account` is omitted, the account is the group
 * `(?<account>…)` in the path, if there is one.
 */
export function serverEvents(
  path: RegExp,
  keys: { list: string; event: JsonKey; account?: (sent: Record<string, unknown>) => unknown },
): Route {
  return {
    path,
    *read(request) {
      const { [keys.list]: list, ...rest } = request.sent
      const shared = sharedOf(rest)
      const account = scalarOrNull(keys.account ? keys.account(rest) : path.exec(request.path)?.groups?.account)
      for (const event of objectsIn(list)) {
        const name = typeof keys.event === 'function' ? keys.event(event) : event[keys.event]
        yield { event: scalarText(name), account, params: { ...shared, ...event } }
      }
    },
  }
}

/**
 * Returns a route for requests with one event, which is in the query string or in a form body. `event` is the key of
 * its name, or a function that returns the name. If `account` is omitted, the account is the group `(?<account>…)` in
 * the path, if there is one.
 */
export function pixel(
  path: RegExp,
  keys: {
    account?: string
    event: string | ((params: Params) => string)
    /** Yields parameters that are embedded in other parameters, in a vendor-specific syntax. */
    named?: (params: Params) => Iterable<EmbeddedParam>
  },
): Route {
  return {
    path,
    read(request) {
      const { fields } = request
      const event = typeof keys.event === 'string' ? (fields[keys.event] ?? '') : keys.event(fields)
      const named = keys.account ? fields[keys.account] : path.exec(request.path)?.groups?.account
      const params = keys.named ? withEmbedded(fields, keys.named(fields)) : fields
      return [{ event, account: scalarOrNull(named), params }]
    },
  }
}

/**
 * Returns a route for requests with one event in a JSON body. The parameters of the query are added to the event. If
 * there is no body, they form the whole event. `event` and `account` are keys or functions. If omitted, they are the
 * groups `(?<event>…)` and `(?<account>…)` in the path.
 */
export function jsonEvent(path: RegExp, keys: { account?: JsonKey; event?: JsonKey } = {}): Route {
  return {
    path,
    read(request) {
      const sent = { ...request.query, ...(request.body ? request.json : {}) }
      const groups = path.exec(request.path)?.groups
      const told = (key: JsonKey | undefined) => (typeof key === 'function' ? key(sent) : key && sent[key])
      const event = keys.event ? told(keys.event) : groups?.event
      const account = keys.account ? told(keys.account) : groups?.account
      return [{ event: scalarText(event), account: scalarOrNull(account), params: sent }]
    },
  }
}

type JsonKey = string | ((sent: Record<string, unknown>) => unknown)
