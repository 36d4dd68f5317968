import { snippetAddresses } from '../capture/snippet.ts'
import { AppError } from '../core/error.ts'
import { Closed, Type } from '../core/schema.ts'
import { routingOf } from '../domains/domain.ts'
import { findDomain } from '../domains/store.ts'
import { ById, type Route, route } from '../http/route.ts'
import { type ConfigureDeps, canRotate, rotateSecret } from './configure-integration.ts'
import { beginSignIn, callbackRoutes, needsSignIn, signInCookie } from './connect-by-oauth.ts'
import { type InboundDeps, LiveInboundContext } from './context/inbound-context.ts'
import { assertUsable } from './delivery/attempt.ts'
import { laneOfIntegration } from './delivery/delivery-queues.ts'
import type { Dispatcher } from './delivery/dispatcher.ts'
import { CallFailed, DELIVERED, outcomeOfError, Unusable } from './delivery-outcome.ts'
import { inboundRoutes } from './inbound/inbound-routes.ts'
import { RotatedSchema } from './integration.ts'
import type { Connector, ProviderTools } from './providers/connector.ts'
import { completeIntegration, integrationsOf, providerOf, updateIntegrationStatus } from './store.ts'

type Parts = ConfigureDeps & InboundDeps & { dispatcher: Dispatcher; collectUrl?: string }

const tag = 'Integrations'
const BegunSchema = Closed(
  { url: Type.String({ description: 'Sign-in URL to open in the same browser; valid for 10 minutes' }) },
  { $id: 'SignInBegun', examples: [{ url: 'https://accounts.example.com/authorize?state=…' }] },
)

/** Routes that depend on the available connectors. Routes that no connector needs are omitted. */
export function providerRoutes(deps: Parts): Route[] {
  const { connectors } = deps
  return [
    ...(connectors.some(canRotate) ? [rotateRoute(deps)] : []),
    ...(connectors.some(needsSignIn) ? [signInRoute(deps), ...callbackRoutes(deps)] : []),
    ...inboundRoutes(deps, connectors),
    ...connectors.flatMap((connector) => connector.routes(toolsOf(deps, connector))),
  ]
}

function rotateRoute(deps: Parts): Route {
  return route({
    id: 'rotateIntegration',
    method: 'POST',
    path: '/v1/integrations/{id}/rotate',
    access: 'configure',
    tag,
    summary: 'Rotate the secret or inbound URL of an integration; the new value is shown only once',
    refusals: ['conflict'],
    params: ById,
    answer: RotatedSchema,
    handle: ({ principal: { orgId }, params: { id } }) => rotateSecret(deps, { orgId, id }),
  })
}

function signInRoute(deps: Parts): Route {
  return route({
    id: 'connectIntegration',
    method: 'POST',
    path: '/v1/integrations/{id}/connect',
    access: 'configure',
    tag,
    summary: 'Start the sign-in to the other service, for integrations that require it',
    description:
      'The browser returns to `/v1/integrations/<provider>/callback`, which redirects to the page of the ' +
      'integration, with `#connected` or `#connect-error=<sentence>`.',
    refusals: ['conflict'],
    params: ById,
    answer: BegunSchema,
    handle: ({ principal, params: { id } }) => beginSignIn(deps, principal, id),
    headers: (begun) => signInCookie(deps.publicUrl, begun),
  })
}

function toolsOf(deps: Parts, connector: Connector): ProviderTools {
  const { db, dispatcher, publicUrl } = deps
  return {
    publicUrl,
    integrations: (orgId) =>
      integrationsOf(db, connector.type)
        .filter((one) => one.orgId === orgId)
        .map(({ id }) => id),
    open(key, signal) {
      if (providerOf(db, key) !== connector.type)
        throw new AppError('notFound', `the ${connector.type} integration does not exist`)
      return new LiveInboundContext(deps, connector, key, signal)
    },
    async runAttempt(context, work) {
      const { orgId, integrationId: id } = context
      const lane = laneOfIntegration(db, { orgId, id: id ?? '' })
      if (!dispatcher.hasRoom(lane))
        throw new AppError('conflict', 'too many other calls are in progress; try again later')
      return dispatcher.track(lane, async (ended) => {
        try {
          return await work()
        } catch (error) {
          throw context instanceof LiveInboundContext ? context.refusal(error) : error
        } finally {
          ended(context instanceof LiveInboundContext && context.hung)
        }
      })
    },
    runInBackground: (key, work) => dispatcher.trackUnlimited(workOn(deps, connector, key, work)),
    scriptUrlOf({ orgId, id }) {
      const { publicUrl, collectUrl = publicUrl, clock } = deps
      const domain = findDomain(db, { orgId, id }, clock.now())
      return snippetAddresses(domain.token, routingOf(domain, { collectUrl, publicUrl }).collectEndpoint).scriptUrl
    },
    complete: ({ orgId, integrationId: id }, name) => completeIntegration(db, { orgId, id: id ?? '' }, name),
  }
}

async function workOn<R>(
  deps: Parts,
  connector: Connector,
  key: { orgId: string; id: string },
  work: (context: LiveInboundContext) => Promise<R>,
): Promise<R> {
  const { db, dispatcher } = deps
  const context = new LiveInboundContext(deps, connector, key, dispatcher.stopping)
  try {
    assertUsable(context)
    const done = await work(context)
    updateIntegrationStatus(db, key.id, DELIVERED)
    return done
  } catch (error) {
    if (dispatcher.stopping.aborted) throw new AppError('unavailable', 'the server is shutting down', 1)
    const outcome = isIntegrationError(error) ? outcomeOfError(error, context.now()) : null
    if (outcome) updateIntegrationStatus(db, key.id, outcome)
    const refusal = context.refusal(error)
    // Unexpected errors are also reported here, because the caller may have disconnected.
    if (!(refusal instanceof AppError)) dispatcher.deps.report(refusal, key.id)
    throw refusal
  }
}

/**
 * True if the error concerns the integration: the other service rejected the call, did not respond, or requires a new
 * sign-in.
 */
const isIntegrationError = (error: unknown) =>
  error instanceof CallFailed || error instanceof Unusable || (error instanceof AppError && error.code === 'upstream')
