import { AppError } from '../../core/error.ts'
import { Closed, Text, Type } from '../../core/schema.ts'
import { pascalCase } from '../../core/text.ts'
import { type OwnCredential, publicRoute, type Route } from '../../http/route.ts'
import { type InboundDeps, LiveInboundContext } from '../context/inbound-context.ts'
import { PROVIDERS } from '../providers/index.ts'
import type { InboundCall, Provider, Receiver } from '../providers/provider.ts'
import { findByInboundToken, type IntegrationKey, integrationsOf } from '../store.ts'

const MAX_INBOUND_BYTES = 1024 * 1024

const Anything = Type.Record(Type.String(), Type.Unknown(), {
  $id: 'InboundCall',
  description: 'Payload sent by the other service',
  examples: [{ type: 'message' }],
})
const CAPABILITY_TOKEN: OwnCredential = {
  name: 'capabilityToken',
  scheme: { type: 'apiKey', in: 'query', name: 't', description: 'Capability token of the integration' },
}
const ByToken = Closed({ t: Text(1, 200, { description: 'Capability token of the integration' }) })

/** Routes for inbound calls, one for each provider with a receiver. */
export function inboundRoutes(deps: InboundDeps, providers: readonly Provider[] = PROVIDERS): Route[] {
  return providers.flatMap((provider) => (provider.receiver ? [inboundRoute(deps, provider, provider.receiver)] : []))
}

function inboundRoute(
  deps: InboundDeps,
  provider: Provider,
  receiver: Receiver<object, unknown, object, unknown>,
): Route {
  return publicRoute({
    id: `receiveFrom${pascalCase(provider.type)}`,
    method: 'POST',
    path: `/v1/integrations/${provider.type}/${receiver.path}`,
    tag: 'Integrations',
    summary: receiver.summary,
    refusals: ['unauthorized', 'forbidden', ...(receiver.refusals ?? [])],
    asynchronous: true,
    raw: true,
    maxBodyBytes: MAX_INBOUND_BYTES,
    ...(receiver.addressees ? {} : { query: ByToken }),
    credential: receiver.credential ?? CAPABILITY_TOKEN,
    body: Anything,
    answer: receiver.answer,
    async handle({ query, body, raw, signal }) {
      if (!raw) throw new Error('an inbound call must have a raw body')
      const call: InboundCall = { headers: raw.headers, raw: raw.text, body }
      const answers: unknown[] = []
      let refusal: unknown
      for (const key of addresseesOf(deps, provider, call, query as { t?: string })) {
        try {
          answers.push(await receiveFor(deps, { provider, receiver, key, signal }, call))
        } catch (error) {
          refusal ??= error
        }
      }
      if (answers.length === 0) throw refusal
      return answers[0]
    },
  })
}

async function receiveFor(
  deps: InboundDeps,
  { provider, receiver, key, signal }: Addressed,
  call: InboundCall,
): Promise<unknown> {
  const context = new LiveInboundContext(deps, provider, key, signal)
  try {
    return await receiver.receive(context, call)
  } catch (error) {
    throw context.refusal(error)
  }
}

interface Addressed {
  provider: Provider
  receiver: Receiver<object, unknown, object, unknown>
  key: IntegrationKey
  signal: AbortSignal
}

/**
 * Returns the integrations that the call is addressed to, at least one. Fails with `unauthorized` or with an error of
 * the provider.
 */
function addresseesOf(
  { db }: InboundDeps,
  { type, receiver }: Provider,
  call: InboundCall,
  { t = '' }: { t?: string },
): IntegrationKey[] {
  if (!receiver?.addressees) {
    const key = findByInboundToken(db, type, t)
    if (key) return [key]
    throw new AppError('unauthorized', 't: is not a valid integration token')
  }
  const all = integrationsOf(db, type)
  const ids = receiver.addressees(call, all)
  const found = all.filter(({ id }) => ids.includes(id))
  if (found.length > 0) return found
  throw new AppError('unauthorized', 'no integration matches this call')
}
