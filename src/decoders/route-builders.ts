import type { Route } from './decoder.ts'
import { type EmbeddedParam, withEmbedded } from './embedded-params.ts'
import { objectsIn } from './json.ts'
import { type Params, scalarOrNull, scalarText, sharedOf } from './params.ts'

/**
 * Returns a route for requests that load the vendor's code or configuration. `account` is the query key that contains
 * the account. Without it, the account is the path's group `(?<account>…)`, if there is one.
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
 * Returns a route for a vendor's requests that carry no event: they repeat an event, synchronise ids, or report about
 * the code itself.
 */
export function sideChannel(path: RegExp): Route {
  return { path, carries: 'nothing', read: () => [] }
}

/**
 * Returns a route for events of servers, `{<list>: [event, …]}`. Fields next to the list, such as `test_event_code`,
 * are added to each event. The body is JSON, or a form whose list is JSON text. `event` is the key of an event's name,
 * or a function that returns the name. Without `account`, the account is the path's group `(?<account>…)`, if there is
 * one.
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
 * Returns a route for requests with one event in the query string, or in a form body instead. `event` is the key of its
 * name, or a function that returns the name. Without `account`, the account is the path's group `(?<account>…)`, if
 * there is one.
 */
export function pixel(
  path: RegExp,
  keys: {
    account?: string
    event: string | ((params: Params) => string)
    /** Parses parameters in a vendor's own syntax. */
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
 * Returns a route for requests with one event in a JSON body, combined with the parameters of the query, which are used
 * alone when there is no body. `event` and `account` are keys or functions; by default, they are the path's groups
 * `(?<event>…)` and `(?<account>…)`.
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
