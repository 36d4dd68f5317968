/**
 * Google's measurement and advertising products, whose requests contain `gcs` and `gcd`.
 * https://developers.google.com/tag-platform/security/concepts/consent-mode
 */
export const GOOGLE_VENDORS: Readonly<Record<string, string>> = {
  'Google Analytics 4': 'measurement; every request of the Google tag carries both parameters',
  'Google Universal Analytics': 'measurement; carried both parameters until the product was shut down',
  'Google Ads': 'conversions and remarketing; every request of the Google tag carries both parameters',
  'Google Floodlight': 'Campaign Manager conversions; every request of the Google tag carries both parameters',
}
// Google Tag Manager and Google Optimize are excluded, because they only load code.

/**
 * Vendors that use the data they receive for advertising and whose tags send no consent signal, so that only the site
 * can block them. Google's products are excluded. Also excluded are vendors whose requests contain the visitor's
 * decision: Microsoft UET (`asc`) and vendors that forward a TCF or GPP string. A request with a consent signal never
 * creates a finding.
 */
export const ADVERTISING_VENDORS: Readonly<Record<string, string>> = {
  'AdRoll Pixel': 'retargeting',
  'Amazon Ads': 'conversions and audiences',
  Bombora: 'audiences by company, sold to advertisers',
  'CJ Affiliate': 'commissions; shares visitor ids with publishers',
  'Criteo OneTag': 'retargeting',
  'LINE Tag': 'conversions and audiences',
  'LinkedIn Insight': 'conversions and audiences',
  LiveIntent: 'identities, sold to advertisers',
  LiveRamp: 'identities, sold to advertisers',
  'Meta Pixel': 'conversions and audiences',
  'Nextdoor Pixel': 'conversions',
  'Outbrain Pixel': 'conversions and audiences',
  'Pinterest Tag': 'conversions and audiences',
  'Quora Pixel': 'conversions and audiences',
  'RTB House': 'retargeting',
  'Rakuten Advertising': 'commissions and retargeting',
  'Reddit Pixel': 'conversions and audiences',
  'Seznam Sklik': 'conversions and retargeting',
  'Snapchat Pixel': 'conversions and audiences',
  'Sojern Pixel': 'retargeting for travel',
  'Spotify Ad Analytics': 'podcast advertising conversions',
  StackAdapt: 'conversions and retargeting',
  'Taboola Pixel': 'conversions and audiences',
  'Teads Universal Pixel': 'conversions and audiences',
  'The Trade Desk': 'audiences for bidding',
  'TikTok Pixel': 'conversions and audiences',
  'VK Pixel': 'conversions and audiences',
  'X Pixel': 'conversions and audiences',
  'Yahoo Dot Tag': 'conversions and audiences',
  'Zemanta Pixel': 'conversions',
}
