import type { Outbound } from '../../transport/transport.ts'
import { type Outcome, outcomeOf } from '../delivery-outcome.ts'
import type { IntegrationContext } from './provider-context.ts'

/** Sends one request or e-mail and derives the outcome from the status of the reply. */
export async function sendOutbound(
  context: Pick<IntegrationContext, 'send' | 'now'>,
  outbound: Outbound,
): Promise<Outcome> {
  return outcomeOf(outbound, await context.send(outbound), context.now())
}
