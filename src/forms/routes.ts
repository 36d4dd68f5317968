import { type Route, route } from '../http/route.ts'
import type { AnyInsight } from '../insights/insight.ts'
import type { Provider } from '../integrations/providers/provider.ts'
import { FormsSchema, formsOfAll } from './forms.ts'

export interface FormParts {
  providers: readonly Provider[]
  insights: readonly AnyInsight[]
}

/** What can be filled in: `GET /v1/forms`. */
export function formRoutes({ providers, insights }: FormParts): Route[] {
  const forms = formsOfAll(providers, insights)
  return [
    route({
      id: 'listForms',
      method: 'GET',
      path: '/v1/forms',
      access: 'read',
      tag: 'Forms',
      summary: 'Forms for channels, integrations, types of alerts, and insights',
      description: 'What a page needs to ask for everything that each of them takes, without knowing any of them.',
      answer: FormsSchema,
      handle: () => forms,
    }),
  ]
}
