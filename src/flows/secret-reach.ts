import { AppError } from '../core/error.ts'
import type { FlowTest } from './flow-test.ts'
import { withStartUrl, withValues } from './recording.ts'

type Values = Readonly<Record<string, string>>

/** What a flow test's secrets are bound to: whoever enters them has seen these. */
export interface SecretReach {
  /** Hosts that may get the secrets, with the port where it is not the default, without `www.`. */
  hosts: ReadonlySet<string>
  /** Expressions that run in the test's pages, which could read a secret there or compare it. */
  expressions: ReadonlySet<string>
}

/** Returns the host of an address as `SecretReach.hosts` has it; null for what is no address on the web. */
export function secretHostOf(address: string): string | null {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol)) return null
  const name = url.hostname.replace(/^www\./, '').replace(/\.$/, '')
  return url.port === '' ? name : `${name}:${url.port}`
}

/** Returns what the secrets of a test are bound to. `variables` and `secrets` fill in its texts. */
export function secretReach(
  { recording, startUrl, secretHosts }: Pick<FlowTest, 'recording' | 'startUrl' | 'secretHosts'>,
  { variables, secrets }: { variables: Values; secrets: Values },
): SecretReach {
  // The recording's own start page stays one of its hosts.
  const steps = [...recording.steps, ...withStartUrl(recording, startUrl).steps]
  const addresses = steps.flatMap(({ url, target, assertedEvents }) => [
    ...[url, target],
    ...(Array.isArray(assertedEvents) ? assertedEvents.map((event: { url?: unknown } | null) => event?.url) : []),
  ])
  const filled = withValues(addresses, { ...variables, ...secrets }).filter((text) => typeof text === 'string')
  const expressions = steps.flatMap(({ expression }) => (typeof expression === 'string' ? [expression] : []))
  return {
    hosts: new Set([...filled.flatMap((address) => secretHostOf(address) ?? []), ...secretHosts.map(plainHost)]),
    expressions: new Set(withValues(expressions, variables)),
  }
}

/** Returns a host as `SecretReach.hosts` has it. Fails with `invalid`, naming the field, for what is no host. */
function plainHost(text: string, index: number): string {
  const host = /^[^\s/?#@\\]+$/.test(text) ? secretHostOf(`https://${text}`) : null
  if (host !== null) return host
  throw new AppError('invalid', `secretHosts[${index}]: must be a host name, such as login.shop.example`)
}

/** Fails with `invalid`, naming the field, for what is no host. */
export function checkSecretHosts(hosts: readonly string[]): void {
  hosts.forEach(plainHost)
}

/** Returns why secrets that were entered for `bound` must be entered again for `wanted`; null: they need not be. */
export function beyondReach(bound: SecretReach, wanted: SecretReach): string | null {
  const host = [...wanted.hosts].find((name) => !bound.hosts.has(name))
  if (host !== undefined) return `it was not entered for the host ${host}`
  const isOther = [...wanted.expressions].some((expression) => !bound.expressions.has(expression))
  return isOther ? 'it was not entered for a waitForExpression step of the test' : null
}
