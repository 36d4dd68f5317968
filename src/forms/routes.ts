import { type Route, route } from '../http/route.ts'
import type { AnyInsight } from '../insights/insight.ts'
import type { Provider } from '../integrations/providers/provider.ts'
import { FormsSchema, formsOfAll } from './forms.ts'

export interface FormRouteDeps {
  providers: readonly Provider[]
  insights: readonly AnyInsight[]
}

/** Available forms: `GET /v1/forms`. */
export function formRoutes({ providers, insights }: FormRouteDeps): Route[] {
  const forms = formsOfAll(providers, insights)
  return [
    route({
      id: 'listForms',
      method: 'GET',
      path: '/v1/forms',
      access: 'read',
      tag: 'Forms',
      summary: 'List the forms for channels, integrations, alert types and insights',
      description: 'Contains everything that a client needs to render each form without knowing its fields in advance.',
      answer: FormsSchema,
      handle: () => forms,
    }),
  ]
}
