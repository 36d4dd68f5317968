import { AppError } from '../../core/error.ts'
import { Closed, Text, Type } from '../../core/schema.ts'
import { pascalCase } from '../../core/text.ts'
import { type OwnCredential, publicRoute, type Route } from '../../http/route.ts'
import { type InboundDeps, LiveInboundContext } from '../context/inbound-context.ts'
import { type Connector, type Inbound, type InboundCall, inboundBy } from '../providers/connector.ts'
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

type Receiver = Extract<Inbound, { by: 'call' }>

/** Routes for inbound calls, one for each receiver. */
export function inboundRoutes(deps: InboundDeps, connectors: readonly Connector[]): Route[] {
  return inboundBy(connectors, 'call').map(({ connector, inbound }) => inboundRoute(deps, connector, inbound))
}

function inboundRoute(deps: InboundDeps, connector: Connector, receiver: Receiver): Route {
  return publicRoute({
    id: `receiveFrom${pascalCase(connector.type)}`,
    method: 'POST',
    path: `/v1/integrations/${connector.type}/${receiver.path}`,
    tag: 'Integrations',
    summary: receiver.summary,
    refusals: ['unauthorized', 'forbidden', ...receiver.refusals],
    asynchronous: true,
    raw: true,
    maxBodyBytes: MAX_INBOUND_BYTES,
    ...(receiver.callers === 'token'
      ? { query: ByToken, credential: CAPABILITY_TOKEN }
      : { credential: receiver.credential }),
    body: Anything,
    answer: receiver.answer,
    async handle({ query, body, raw, signal }) {
      if (!raw) throw new Error('an inbound call must have a raw body')
      const call: InboundCall = { headers: raw.headers, raw: raw.text, body }
      const answers: unknown[] = []
      let refusal: unknown
      for (const key of addresseesOf(deps, { connector, receiver }, call, query as { t?: string })) {
        try {
          answers.push(await receiveFor(deps, { connector, receiver, key, signal }, call))
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
  { connector, receiver, key, signal }: Addressed,
  call: InboundCall,
): Promise<unknown> {
  const context = new LiveInboundContext(deps, connector, key, signal)
  try {
    return await receiver.receive(context, call)
  } catch (error) {
    throw context.refusal(error)
  }
}

interface Addressed {
  connector: Connector
  receiver: Receiver
  key: IntegrationKey
  signal: AbortSignal
}

/**
 * Returns the integrations that the call is addressed to, at least one. Fails with `unauthorized` or with an error of
 * the provider.
 */
function addresseesOf(
  { db }: InboundDeps,
  { connector: { type }, receiver }: Pick<Addressed, 'connector' | 'receiver'>,
  call: InboundCall,
  { t = '' }: { t?: string },
): IntegrationKey[] {
  if (receiver.callers === 'token') {
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
