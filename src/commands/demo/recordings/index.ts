import amplitude from './amplitude.har' with { type: 'text' }
import ga4 from './ga4_minimal.har' with { type: 'text' }
import mixpanel from './mixpanel.har' with { type: 'text' }
import plausible from './plausible.har' with { type: 'text' }

/**
 * HAR files, as strings, with requests that vendors' own SDKs sent from Chromium on a test page. The first one is
 * Google's.
 */
export const recordings: readonly string[] = [ga4, mixpanel, plausible, amplitude]
