import { ById, type Route, route } from '../http/route.ts'
import {
  type CaptureSettings,
  CaptureSettingsInputSchema,
  CaptureSettingsSchema,
  captureSettings,
  changeCapture,
} from './capture-settings.ts'
import { type DomainRouteDeps, sharesText } from './domain-route-deps.ts'

/** Returns the routes for the settings of a domain's browser script. */
export function captureRoutes({ db, changed, noteSetting }: DomainRouteDeps): Route[] {
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
      summary: 'Get the settings of the browser script: capture, session sampling and session length',
      handle: ({ principal: { orgId }, params: { id } }) => captureSettings(db, { orgId, id }),
    }),
    route({
      ...common,
      id: 'setCapture',
      method: 'PUT',
      access: 'configure',
      summary: 'Change the settings of the browser script; omitted fields remain unchanged',
      description: 'Open pages apply the change within an hour.',
      body: CaptureSettingsInputSchema,
      handle({ principal: { orgId }, params: { id }, body }) {
        const before = captureSettings(db, { orgId, id })
        const settings = changeCapture(db, { orgId, id }, body)
        const [was, is] = [captureText(before), captureText(settings)]
        if (was !== is) noteSetting?.({ orgId, id }, is)
        changed()
        return settings
      },
      note: ({ body }) => ({ ...body }),
    }),
  ]
}

function captureText({ enabled, sampleRate: { prod, dev } }: CaptureSettings): string {
  return enabled ? `The browser script captures ${sharesText(prod, dev)}` : 'The browser script captures nothing'
}
