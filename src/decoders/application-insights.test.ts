import { applicationInsights } from './application-insights.ts'
import { testDecoder } from './decoder-cases.ts'

const TRACK = 'https://westeurope-5.in.applicationinsights.azure.com/v2/track'
const envelope = (kind: string, baseData: object) => ({
  name: `Microsoft.ApplicationInsights.key1.${kind}`,
  iKey: 'key-1',
  data: { baseType: `${kind}Data`, baseData },
})
const view = envelope('Pageview', { name: 'Cart', url: 'https://shop.example/cart' })
const purchase = envelope('Event', { name: 'purchase', properties: { value: '42.5' } })

// https://learn.microsoft.com/azure/azure-monitor/app/javascript-sdk
testDecoder(applicationInsights, [
  {
    name: 'several events',
    url: TRACK,
    body: JSON.stringify([view, purchase, envelope('Exception', {})]),
    account: 'key-1',
    events: ['Pageview', 'purchase', 'Exception'],
    params: { 'data.baseData.name': 'Cart' },
  },
  {
    name: 'one event per line, sent to the old host',
    url: 'https://dc.services.visualstudio.com/v2/track',
    body: `${JSON.stringify(purchase)}\n${JSON.stringify(view)}\n`,
    account: 'key-1',
    events: ['purchase', 'Pageview'],
  },
  {
    name: 'a double slash',
    url: 'https://eastus-8.in.applicationinsights.azure.com//v2/track',
    body: JSON.stringify([purchase]),
    account: 'key-1',
    events: ['purchase'],
  },
  { name: 'settings', url: 'https://js.monitor.azure.com/scripts/b/ai.config.1.cfg.json', events: [] },
  {
    name: 'the library',
    url: 'https://js.monitor.azure.com/scripts/b/ai.3.gbl.min.js',
    events: [''],
    kind: 'library',
  },
  {
    name: 'a malformed body',
    url: TRACK,
    body: '[{',
    events: [],
    error: 'Application Insights: the body is not JSON',
  },
  { name: 'the portal', url: 'https://portal.azure.com/v2/track', events: null },
])
