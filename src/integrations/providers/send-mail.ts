import { type Outcome, outcomeOf } from '../outcome.ts'
import type { Outbound } from '../transport/transport.ts'
import type { IntegrationContext } from './provider-context.ts'

/** Sends one mail and derives the outcome from the reply's status. */
export async function sendMail(
  context: Pick<IntegrationContext, 'send' | 'now'>,
  outbound: Outbound,
): Promise<Outcome> {
  return outcomeOf(outbound, await context.send(outbound), context.now())
}
