import { messageOf } from '../core/error.ts'
import { sixSense } from './6sense.ts'
import { abTasty } from './ab-tasty.ts'
import { activeCampaign } from './activecampaign.ts'
import { adform } from './adform.ts'
import { adjust } from './adjust.ts'
import { adobeAdvertising } from './adobe-advertising.ts'
import { adobeAnalytics } from './adobe-analytics.ts'
import { adobeAudienceManager } from './adobe-audience-manager.ts'
import { adobeDtm } from './adobe-dtm.ts'
import { adobeExperienceCloudId } from './adobe-experience-cloud-id.ts'
import { adobeLaunch } from './adobe-launch.ts'
import { adobeMediaAnalytics } from './adobe-media-analytics.ts'
import { adobeTarget } from './adobe-target.ts'
import { adobeWebSdk } from './adobe-web-sdk.ts'
import { adroll } from './adroll.ts'
import { amazonAds } from './amazon-ads.ts'
import { amplitude } from './amplitude.ts'
import { applicationInsights } from './application-insights.ts'
import { applovinAxon } from './applovin-axon.ts'
import { appsflyer } from './appsflyer.ts'
import { atInternet } from './at-internet.ts'
import { attentive } from './attentive.ts'
import { awin } from './awin.ts'
import { bazaarvoice } from './bazaarvoice.ts'
import { bloomreach } from './bloomreach.ts'
import { bombora } from './bombora.ts'
import { braze } from './braze.ts'
import { brevo } from './brevo.ts'
import { chartbeat } from './chartbeat.ts'
import { cjAffiliate } from './cj-affiliate.ts'
import { clearbitReveal } from './clearbit-reveal.ts'
import { clevertap } from './clevertap.ts'
import { cloudflareWebAnalytics } from './cloudflare-web-analytics.ts'
import { commandersAct } from './commanders-act.ts'
import { comscore } from './comscore.ts'
import { contentsquare } from './contentsquare.ts'
import { convert } from './convert.ts'
import { cookiebot } from './cookiebot.ts'
import { countly } from './countly.ts'
import { crazyEgg } from './crazy-egg.ts'
import { criteoOneTag } from './criteo-onetag.ts'
import { customerIo } from './customer-io.ts'
import { datadogRum } from './datadog-rum.ts'
import { type Decoded, decodedNothing, decodedOf, type FlatEvent } from './decoded-events.ts'
import type { Decoder, RawHit } from './decoder.ts'
import { DecoderLookup } from './decoder-lookup.ts'
import { demandbase } from './demandbase.ts'
import { didomi } from './didomi.ts'
import { drift } from './drift.ts'
import { dynamicYield } from './dynamic-yield.ts'
import { emarsys } from './emarsys.ts'
import { ensightenManage } from './ensighten-manage.ts'
import { ensightenServerSide } from './ensighten-server-side.ts'
import { fathom } from './fathom.ts'
import { fullstory } from './fullstory.ts'
import { glassbox } from './glassbox.ts'
import { goatcounter } from './goatcounter.ts'
import { googleAds } from './google-ads.ts'
import { googleAnalytics4 } from './google-analytics-4.ts'
import { googleFloodlight } from './google-floodlight.ts'
import { googleOptimize } from './google-optimize.ts'
import { googleTagManager } from './google-tag-manager.ts'
import { googleUniversalAnalytics } from './google-universal-analytics.ts'
import { heap } from './heap.ts'
import { hotjar } from './hotjar.ts'
import { hubspot } from './hubspot.ts'
import { impact } from './impact.ts'
import { indicative } from './indicative.ts'
import { insider } from './insider.ts'
import { intercom } from './intercom.ts'
import { invoca } from './invoca.ts'
import { iterable } from './iterable.ts'
import { jitsu } from './jitsu.ts'
import { kameleoon } from './kameleoon.ts'
import { kissmetrics } from './kissmetrics.ts'
import { klaviyo } from './klaviyo.ts'
import { lineTag } from './line-tag.ts'
import { linkedinInsight } from './linkedin-insight.ts'
import { liveIntent } from './liveintent.ts'
import { liveRamp } from './liveramp.ts'
import { logRocket } from './logrocket.ts'
import { lytics } from './lytics.ts'
import { mailchimp } from './mailchimp.ts'
import { mappIntelligence } from './mapp-intelligence.ts'
import { marketo } from './marketo.ts'
import { matomo } from './matomo.ts'
import { matomoTagManager } from './matomo-tag-manager.ts'
import { medallia } from './medallia.ts'
import { merkury } from './merkury.ts'
import { metaPixel } from './meta-pixel.ts'
import { microsoftAdvertisingUet } from './microsoft-advertising-uet.ts'
import { microsoftClarity } from './microsoft-clarity.ts'
import { mixpanel } from './mixpanel.ts'
import { monetate } from './monetate.ts'
import { mouseflow } from './mouseflow.ts'
import { mparticle } from './mparticle.ts'
import { muxData } from './mux-data.ts'
import { newRelicBrowser } from './new-relic-browser.ts'
import { nextdoorPixel } from './nextdoor-pixel.ts'
import { nielsen } from './nielsen.ts'
import { omniconvert } from './omniconvert.ts'
import { onetrust } from './onetrust.ts'
import { openaiAds } from './openai-ads.ts'
import { openpanel } from './openpanel.ts'
import { optimizely } from './optimizely.ts'
import { oracleEloqua } from './oracle-eloqua.ts'
import { oracleInfinity } from './oracle-infinity.ts'
import { outbrainPixel } from './outbrain-pixel.ts'
import { parsely } from './parsely.ts'
import { pendo } from './pendo.ts'
import { pianoAnalytics } from './piano-analytics.ts'
import { pinterestTag } from './pinterest-tag.ts'
import { piwikPro } from './piwik-pro.ts'
import { piwikProTagManager } from './piwik-pro-tag-manager.ts'
import { plausible } from './plausible.ts'
import { posthog } from './posthog.ts'
import { qualtrics } from './qualtrics.ts'
import { quantcast } from './quantcast.ts'
import { quantumMetric } from './quantum-metric.ts'
import { quoraPixel } from './quora-pixel.ts'
import { rakutenAdvertising } from './rakuten-advertising.ts'
import { redditPixel } from './reddit-pixel.ts'
import { rtbHouse } from './rtb-house.ts'
import { rudderstack } from './rudderstack.ts'
import { salesforceAccountEngagement } from './salesforce-account-engagement.ts'
import { salesforceMarketingCloud } from './salesforce-marketing-cloud.ts'
import { salesforcePersonalization } from './salesforce-personalization.ts'
import { segment } from './segment.ts'
import { sentry } from './sentry.ts'
import { seznamSklik } from './seznam-sklik.ts'
import { simpleAnalytics } from './simple-analytics.ts'
import { snapchatPixel } from './snapchat-pixel.ts'
import { snowplow } from './snowplow.ts'
import { sojernPixel } from './sojern-pixel.ts'
import { splitIo } from './split-io.ts'
import { spotifyAdAnalytics } from './spotify-ad-analytics.ts'
import { stackAdapt } from './stackadapt.ts'
import { statsig } from './statsig.ts'
import { taboolaPixel } from './taboola-pixel.ts'
import { teadsPixel } from './teads-pixel.ts'
import { tealiumEventstream } from './tealium-eventstream.ts'
import { tealiumIq } from './tealium-iq.ts'
import { theTradeDesk } from './the-trade-desk.ts'
import { tiktokPixel } from './tiktok-pixel.ts'
import { trustpilot } from './trustpilot.ts'
import { umami } from './umami.ts'
import { usercentrics } from './usercentrics.ts'
import { VendorRequest } from './vendor-request.ts'
import { vercelAnalytics } from './vercel-analytics.ts'
import { vibes } from './vibes.ts'
import { vkPixel } from './vk-pixel.ts'
import { vwo } from './vwo.ts'
import { webtrendsOndemand } from './webtrends-ondemand.ts'
import { woopra } from './woopra.ts'
import { xPixel } from './x-pixel.ts'
import { xandr } from './xandr.ts'
import { yahooDot } from './yahoo-dot.ts'
import { yandexMetrica } from './yandex-metrica.ts'
import { zemantaPixel } from './zemanta-pixel.ts'
import { zoomInfoWebSights } from './zoominfo-websights.ts'

export type { Decoded, Decoder, FlatEvent, RawHit }

/** If two decoders can read the same request, the one that is earlier in this list is used. */
export const decoders: readonly Decoder[] = [
  abTasty,
  activeCampaign,
  adform,
  adjust,
  adobeAdvertising,
  adobeAnalytics,
  adobeAudienceManager,
  adobeDtm,
  adobeExperienceCloudId,
  adobeLaunch,
  adobeMediaAnalytics,
  adobeTarget,
  adobeWebSdk,
  adroll,
  amazonAds,
  amplitude,
  applicationInsights,
  applovinAxon,
  appsflyer,
  atInternet,
  attentive,
  awin,
  bazaarvoice,
  bloomreach,
  bombora,
  braze,
  brevo,
  chartbeat,
  cjAffiliate,
  clearbitReveal,
  clevertap,
  cloudflareWebAnalytics,
  commandersAct,
  comscore,
  contentsquare,
  convert,
  cookiebot,
  countly,
  crazyEgg,
  criteoOneTag,
  customerIo,
  datadogRum,
  demandbase,
  didomi,
  drift,
  dynamicYield,
  emarsys,
  ensightenManage,
  ensightenServerSide,
  fathom,
  fullstory,
  glassbox,
  goatcounter,
  googleAds,
  googleAnalytics4,
  googleFloodlight,
  googleOptimize,
  googleTagManager,
  googleUniversalAnalytics,
  heap,
  hotjar,
  hubspot,
  impact,
  indicative,
  insider,
  intercom,
  invoca,
  iterable,
  jitsu,
  kameleoon,
  kissmetrics,
  klaviyo,
  lineTag,
  linkedinInsight,
  liveIntent,
  liveRamp,
  logRocket,
  lytics,
  mailchimp,
  mappIntelligence,
  marketo,
  matomo,
  matomoTagManager,
  medallia,
  merkury,
  metaPixel,
  microsoftAdvertisingUet,
  microsoftClarity,
  mixpanel,
  monetate,
  mouseflow,
  mparticle,
  muxData,
  newRelicBrowser,
  nextdoorPixel,
  nielsen,
  omniconvert,
  onetrust,
  openaiAds,
  openpanel,
  optimizely,
  oracleEloqua,
  oracleInfinity,
  outbrainPixel,
  parsely,
  pendo,
  pianoAnalytics,
  pinterestTag,
  piwikPro,
  piwikProTagManager,
  plausible,
  posthog,
  qualtrics,
  quantcast,
  quantumMetric,
  quoraPixel,
  rakutenAdvertising,
  redditPixel,
  rtbHouse,
  rudderstack,
  salesforceAccountEngagement,
  salesforceMarketingCloud,
  salesforcePersonalization,
  segment,
  sentry,
  seznamSklik,
  simpleAnalytics,
  sixSense,
  snapchatPixel,
  snowplow,
  sojernPixel,
  splitIo,
  spotifyAdAnalytics,
  stackAdapt,
  statsig,
  taboolaPixel,
  teadsPixel,
  tealiumEventstream,
  tealiumIq,
  theTradeDesk,
  tiktokPixel,
  trustpilot,
  umami,
  usercentrics,
  vercelAnalytics,
  vibes,
  vkPixel,
  vwo,
  webtrendsOndemand,
  woopra,
  xandr,
  xPixel,
  yahooDot,
  yandexMetrica,
  zemantaPixel,
  zoomInfoWebSights,
]

const routing = new DecoderLookup(decoders)

/**
 * Decodes a request. Never throws. A preflight request (OPTIONS) is attributed to its vendor, but has no events. `url`
 * is the request's URL, if the caller has already parsed it.
 */
export function decodeHit(hit: RawHit, url = URL.parse(hit.url)): Decoded {
  if (!url) return decodedNothing(null, 'url: is not an absolute URL')
  let vendor: string | null = null
  try {
    const request = new VendorRequest(url, hit.body)
    const found = routing.find(request)
    if (!found) return decodedNothing(null, null)
    vendor = found.vendor
    return hit.method === 'OPTIONS' ? decodedNothing(vendor, null) : decodedOf(vendor, found.route.read(request))
  } catch (error) {
    // An error in a decoder affects only this request.
    return decodedNothing(vendor, `${vendor ?? 'request'}: ${messageOf(error)}`)
  }
}

/** Returns the vendor whose decoder lists the host or one of its parent domains; null when there is none. */
export function vendorOfHost(host: string): string | null {
  return routing.vendorOf(host)
}
