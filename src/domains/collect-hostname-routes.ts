import { AppError } from '../core/error.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import { ById, type Route, route } from '../http/route.ts'
import { setRouting } from './collect-hostname-store.ts'
import { isFullName, isSpecialName, normalizeHostname, ROUTING_MODES, routingOf } from './domain.ts'
import type { DomainRouteDeps } from './domain-route-deps.ts'
import { findDomain } from './store.ts'

const EndpointInput = Closed(
  {
    mode: OneOf(ROUTING_MODES, {
      description:
        'default: the collector; custom: a hostname of your own that points to the collector; legacy: the host of the interface',
    }),
    hostname: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Only for the mode custom. Default: the hostname set before, otherwise `collect.` followed by the monitored host without `www.`',
      }),
    ),
  },
  { $id: 'EndpointInput', examples: [{ mode: 'custom', hostname: 'collect.shop.example' }] },
)

const EndpointSchema = Closed(
  { mode: OneOf(ROUTING_MODES), collectEndpoint: Type.String(), cdnHost: Type.String() },
  {
    $id: 'Endpoint',
    examples: [
      {
        mode: 'custom',
        collectEndpoint: 'https://collect.shop.example/api/v1/events',
        cdnHost: 'collect.shop.example',
      },
    ],
  },
)

/** Returns the routes for the host from which a domain's script is loaded and to which its events are sent. */
export function endpointRoutes(parts: DomainRouteDeps): Route[] {
  const { db, clock, changed, isEndpointLocked, noteSetting } = parts
  return [
    route({
      id: 'setEndpoint',
      method: 'PUT',
      path: '/v1/domains/{id}/endpoint',
      access: 'configure',
      tag: 'Domains',
      summary: 'Set the host from which the script is loaded and to which events are sent',
      params: ById,
      body: EndpointInput,
      answer: EndpointSchema,
      handle({ principal: { orgId }, params: { id }, body: { mode, hostname } }) {
        const endpoint = () => routingOf(findDomain(db, { orgId, id }, clock.now()), parts)
        const before = endpoint()
        if (isEndpointLocked) throw new AppError('forbidden', 'the endpoint is locked by the operator of this server')
        if (hostname !== undefined && mode !== 'custom') {
          throw new AppError('invalid', 'hostname: is only allowed with the mode custom')
        }
        setRouting(db, { orgId, id }, mode, hostname === undefined ? null : hostnameOf(hostname, parts))
        const present = endpoint()
        if (present.collectEndpoint !== before.collectEndpoint)
          noteSetting?.({ orgId, id }, `Events are sent to ${present.collectEndpoint}`)
        changed()
        return present
      },
      note: ({ body }) => ({ ...body }),
    }),
  ]
}

function hostnameOf(text: string, { isHostAllowed }: DomainRouteDeps): string {
  const hostname = normalizeHostname(text)
  // Browsers require a certificate, and certificates are issued neither for IP addresses nor for single-label names.
  if (hostname === null || !isFullName(hostname)) throw new AppError('invalid', 'hostname: is not a valid host name')
  if (isSpecialName(hostname) && !isHostAllowed?.(hostname)) {
    const end = hostname.slice(hostname.lastIndexOf('.') + 1)
    throw new AppError(
      'invalid',
      `hostname: names under .${end} do not exist on the internet; the operator of this server can allow this one in TAGWARDEN_OUTBOUND_ALLOW`,
    )
  }
  return hostname
}
