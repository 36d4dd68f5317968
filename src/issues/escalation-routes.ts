import { type AlertChannel, EscalationSchema } from '../alerts/alert.ts'
import { acceptEscalation, checkStepOrder, showEscalation } from '../alerts/escalation.ts'
import type { Clock } from '../core/clock.ts'
import { Closed } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Route, route } from '../http/route.ts'
import { managedByField } from '../managed/managed-item.ts'
import type { Db } from '../store/database.ts'
import { orgSteps, saveOrgSteps } from './escalation-store.ts'

export interface EscalationRouteDeps {
  db: Db
  /** Encrypts channel targets. */
  box: SecretBox
  clock: Clock
  /** Throws an `AppError` naming the field (`channels[2].target: …`) for a channel that can't deliver. */
  checkChannels: (channels: readonly AlertChannel[], orgId: string) => void
}

const tag = 'Organization'
const OrgEscalationSchema = Closed(
  { ...EscalationSchema.properties, managedBy: managedByField('escalation') },
  { $id: 'OrgEscalation', examples: EscalationSchema.examples },
)

/** Returns the routes for the organization's escalation steps. */
export function escalationRoutes({ db, box, clock, checkChannels }: EscalationRouteDeps): Route[] {
  return [
    route({
      id: 'getEscalation',
      method: 'GET',
      path: '/v1/org/escalation',
      access: 'read',
      tag,
      summary: "Get the organization's escalation steps",
      description: 'Channel targets are masked for viewers and read-only keys.',
      answer: OrgEscalationSchema,
      handle: ({ principal }) => showEscalation(box, { steps: orgSteps(db, principal.orgId) }, principal),
    }),
    route({
      id: 'setEscalation',
      method: 'PUT',
      path: '/v1/org/escalation',
      access: 'administer',
      tag,
      summary: "Replace the organization's escalation steps, which apply to all issues whose alert has no own steps",
      description:
        'Steps count from the notification of the last opening and are sent while the issue is `open`. Open issues ' +
        'follow the new steps, except for those whose time has already passed. A masked target keeps the stored target.',
      body: EscalationSchema,
      answer: OrgEscalationSchema,
      handle({ principal, body }) {
        const { orgId } = principal
        checkStepOrder(body)
        const escalation = acceptEscalation(box, body, {
          stored: { steps: orgSteps(db, orgId) },
          check: (channels) => checkChannels(channels, orgId),
        })
        saveOrgSteps(db, orgId, escalation.steps, clock.now())
        return showEscalation(box, escalation, principal)
      },
      note: ({ body: { steps } }) => ({ afterMinutes: steps.map(({ afterMinutes }) => afterMinutes) }),
    }),
  ]
}
