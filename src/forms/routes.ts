import { type Route, route } from '../http/route.ts'
import type { AnyInsight } from '../insights/insight.ts'
import type { Channel } from '../integrations/providers/channel.ts'
import type { Connector } from '../integrations/providers/connector.ts'
import { FormsSchema, formsOfAll } from './forms.ts'

export interface FormRouteDeps {
  channels: readonly Channel[]
  connectors: readonly Connector[]
  insights: readonly AnyInsight[]
}

/** Available forms: `GET /v1/forms`. */
export function formRoutes({ channels, connectors, insights }: FormRouteDeps): Route[] {
  const forms = formsOfAll(channels, connectors, insights)
  return [
    route({
      id: 'listForms',
      method: 'GET',
      path: '/v1/forms',
      access: 'read',
      tag: 'Forms',
      summary: 'List the forms for channels, integrations, alert types, insights and steps of flow tests',
      description: 'Contains everything that a client needs to render each form without knowing its fields in advance.',
      answer: FormsSchema,
      handle: () => forms,
    }),
  ]
}
