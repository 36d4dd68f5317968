import { ById, type Route, route } from '../http/route.ts'
import {
  CaptureSettingsInputSchema,
  CaptureSettingsSchema,
  captureSettings,
  changeCapture,
} from './capture-settings.ts'
import type { DomainParts } from './route-parts.ts'

/** Routes for the settings of a domain's browser script. */
export function captureRoutes({ db, changed }: DomainParts): Route[] {
  const common = {
    path: '/v1/domains/{id}/capture',
    tag: 'Domains',
    params: ById,
    answer: CaptureSettingsSchema,
  } as const
  return [
    route({
      ...common,
      id: 'getCapture',
      method: 'GET',
      access: 'read',
      summary: 'What the browser script does: whether it captures, which sessions, and what a session is',
      handle: ({ principal: { orgId }, params: { id } }) => captureSettings(db, { orgId, id }),
    }),
    route({
      ...common,
      id: 'setCapture',
      method: 'PUT',
      access: 'configure',
      summary: 'Change what the browser script does; what is left out stays. Open pages know it within the hour',
      body: CaptureSettingsInputSchema,
      handle({ principal: { orgId }, params: { id }, body }) {
        const settings = changeCapture(db, { orgId, id }, body)
        changed()
        return settings
      },
      note: ({ body }) => ({ ...body }),
    }),
  ]
}
