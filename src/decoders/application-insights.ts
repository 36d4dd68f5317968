import type { DecodedEvent, Decoder } from './decoder.ts'
import { looksLike, readJsonObjects } from './json.ts'
import { objectOf, readLines, scalarOrNull, scalarText } from './params.ts'
import { scriptLoad, sideChannel } from './route-builders.ts'
import type { VendorRequest } from './vendor-request.ts'

/** The account is the instrumentation key. */
export const applicationInsights: Decoder = {
  vendor: 'Application Insights',
  source: 'https://learn.microsoft.com/azure/azure-monitor/app/javascript-sdk',
  hosts: [
    'services.visualstudio.com',
    'applicationinsights.azure.com',
    'applicationinsights.azure.us',
    'applicationinsights.azure.cn',
    'applicationinsights.io',
    'applicationinsights.us',
    'js.monitor.azure.com',
    'az416426.vo.msecnd.net',
  ],
  routes: [
    { path: /^\/+v2(?:\.1)?\/track$/, read: readTrack },
    // Settings, live metrics, other running instances.
    sideChannel(/\.cfg\.json$|^\/(?:QuickPulseService|v2\/validate|api\/profiles)\b/),
    scriptLoad(/^\/(?:scripts|next)\/(?:[\w-]+\/)*ai(?:\.[\w.]+)?\.js$/),
  ],
}

/** One envelope, a list of envelopes, or one envelope per line. */
function* readTrack({ body }: VendorRequest): Iterable<DecodedEvent> {
  const texts = looksLike(body, '{', '}\n{') ? readLines(body ?? '') : [body]
  for (const text of texts) {
    for (const envelope of readJsonObjects(text)) yield toEvent(envelope)
  }
}

/**
 * Custom events have names. Other events are named after the last word in the envelope's name: `Pageview`, `Exception`.
 */
function toEvent(envelope: Record<string, unknown>): DecodedEvent {
  const { baseType, baseData } = objectOf(envelope.data)
  const type = scalarText(baseType).replace(/Data$/, '') || (scalarText(envelope.name).split('.').at(-1) ?? '')
  const event = type === 'Event' ? scalarText(objectOf(baseData).name) : type
  return { event, account: scalarOrNull(envelope.iKey), params: envelope }
}
