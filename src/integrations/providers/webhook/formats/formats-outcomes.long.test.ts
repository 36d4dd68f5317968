import { testKills } from '../../../delivery/kill-table.fixture.ts'
import { testOutcomes } from '../../../delivery/outcome-table.fixture.ts'
import { webhookChannel } from '../webhook.ts'
import { PRODUCTS, settingsFor, startProduct } from './products.fixture.ts'

/* Outcomes of deliveries for every status, error and failure of each product, and for a crash at every step. */

for (const product of PRODUCTS) {
  const { format, accepted, rows } = product
  testOutcomes(format.title, {
    channel: webhookChannel,
    integration: (url) => settingsFor(product, url),
    success: accepted,
    rows,
  })
}

for (const name of ['discord', 'pagerduty']) {
  for (const product of PRODUCTS.filter(({ format }) => format.name === name)) {
    testKills(product.format.title, {
      type: 'webhook',
      server: () => startProduct(product),
      integration: ({ url }) => settingsFor(product, url),
    })
  }
}
