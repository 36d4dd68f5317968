import { AppError } from '../core/error.ts'
import type { FlowTest } from './flow-test.ts'
import { withStartUrl, withValues } from './recorder-export.ts'

type Values = Readonly<Record<string, string>>

/**
 * The hosts and expressions that may receive the secrets of a flow test. A person who enters a secret approves them.
 */
export interface SecretReach {
  /** Hosts that may receive the secrets, without `www.`. The port is included when it is not the default port. */
  hosts: ReadonlySet<string>
  /** Expressions that run in the test's pages and could read or compare a secret. */
  expressions: ReadonlySet<string>
}

/** Returns the host of a URL in the form of `SecretReach.hosts`; null when the URL is not a web address. */
export function secretHostOf(address: string): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  const name = url.hostname.replace(/^www\./, '').replace(/\.$/, '')
  return url.port === '' ? name : `${name}:${url.port}`
}

/**
 * Returns the hosts and expressions that can receive the secrets of a test. Placeholders are replaced by the values in
 * `variables` and `secrets`.
 */
export function secretReach(
  { recording, startUrl, secretHosts }: Pick<FlowTest, 'recording' | 'startUrl' | 'secretHosts'>,
  { variables, secrets }: { variables: Values; secrets: Values },
): SecretReach {
  // The host of the recording's own start URL is included, even when the start URL is replaced.
  const steps = [...recording.steps, ...withStartUrl(recording, startUrl).steps]
  const addresses = steps.flatMap(({ url, target, assertedEvents }) => [
    url,
    target,
    ...(Array.isArray(assertedEvents) ? assertedEvents.map((event: { url?: unknown } | null) => event?.url) : []),
  ])
  const filled = withValues(addresses, { ...variables, ...secrets }).filter((text) => typeof text === 'string')
  const expressions = steps.flatMap(({ expression }) => (typeof expression === 'string' ? [expression] : []))
  return {
    hosts: new Set([...filled.flatMap((address) => secretHostOf(address) ?? []), ...secretHosts.map(plainHost)]),
    expressions: new Set(withValues(expressions, variables)),
  }
}

/**
 * Returns a host in the form of `SecretReach.hosts`. Throws `invalid`, naming the field, when the text is not a host.
 */
function plainHost(text: string, index: number): string {
  const host = /^[^\s/?#@\\]+$/.test(text) ? secretHostOf(`https://${text}`) : null
  if (host !== null) return host
  throw new AppError('invalid', `secretHosts[${index}]: must be a host name, such as login.shop.example`)
}

/** Throws `invalid`, naming the field, for values that are not hosts. */
export function checkSecretHosts(hosts: readonly string[]): void {
  hosts.forEach(plainHost)
}

/**
 * Returns why secrets entered for `bound` must be entered again for `wanted`. Null when they need not be entered again.
 */
export function beyondReach(bound: SecretReach, wanted: SecretReach): string | null {
  const host = [...wanted.hosts].find((name) => !bound.hosts.has(name))
  if (host !== undefined) return `it was not entered for the host ${host}`
  const isOther = [...wanted.expressions].some((expression) => !bound.expressions.has(expression))
  return isOther ? 'it was not entered for a waitForExpression step of the test' : null
}
