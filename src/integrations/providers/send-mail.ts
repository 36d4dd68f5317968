import { type Outcome, outcomeOf } from '../outcome.ts'
import type { Outbound } from '../transport/transport.ts'
import type { IntegrationContext } from './provider-context.ts'

/** All that a provider needs whose delivery is one request: sends it, and judges by the status of the answer alone. */
export async function sendMail(
  context: Pick<IntegrationContext, 'send' | 'now'>,
  outbound: Outbound,
): Promise<Outcome> {
  return outcomeOf(outbound, await context.send(outbound), context.now())
}
