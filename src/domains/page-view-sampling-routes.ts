import { Closed, Type } from '../core/schema.ts'
import { ById, type Route, route } from '../http/route.ts'
import { pageViewRates, setPageViewRates } from './collect-hostname-store.ts'
import { SAMPLING_RATES } from './domain.ts'
import { type DomainRouteDeps, sharesText } from './domain-route-deps.ts'

const RateSchema = Type.Union(
  SAMPLING_RATES.map((rate) => Type.Literal(rate)),
  { description: 'Share of sessions whose page views are kept; all other events are always kept' },
)

export const SamplingInputSchema = Closed(
  { devRate: Type.Optional(RateSchema), prodRate: Type.Optional(RateSchema) },
  { $id: 'PageViewSamplingInput', examples: [{ prodRate: 0.5 }] },
)

/** Returns the routes for the fraction of sessions whose page views are stored. */
export function pageViewRoutes({ db, changed, noteSetting }: DomainRouteDeps): Route[] {
  return [
    route({
      id: 'setPageViewSampling',
      path: '/v1/domains/{id}/page-view-sampling',
      tag: 'Domains',
      params: ById,
      method: 'PUT',
      access: 'configure',
      summary: 'Set the share of sessions whose page views are kept',
      body: SamplingInputSchema,
      answer: Closed({ devRate: Type.Number(), prodRate: Type.Number() }, { $id: 'PageViewRates' }),
      handle({ principal: { orgId }, params: { id }, body }) {
        const before = pageViewRates(db, { orgId, id })
        setPageViewRates(db, { orgId, id }, body)
        const rates = pageViewRates(db, { orgId, id })
        if (rates.prodRate !== before.prodRate || rates.devRate !== before.devRate)
          noteSetting?.({ orgId, id }, `Page views are kept for ${sharesText(rates.prodRate, rates.devRate)}`)
        changed()
        return rates
      },
      note: ({ body }) => ({ ...body }),
    }),
  ]
}
