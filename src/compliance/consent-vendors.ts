/**
 * Google's measurement and advertising products, whose requests contain `gcs` and `gcd`.
 * https://developers.google.com/tag-platform/security/concepts/consent-mode
 */
export const GOOGLE_VENDORS: Readonly<Record<string, string>> = {
  'Google Analytics 4': 'measurement; every request of the Google tag carries both',
  'Google Universal Analytics': 'measurement; carried both until it was shut down',
  'Google Ads': 'conversions and remarketing; every request of the Google tag carries both',
  'Google Floodlight': 'conversions of Campaign Manager; every request of the Google tag carries both',
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
  'Amazon Ads': 'conversions and audiences of Amazon',
  Bombora: 'audiences by company, sold to advertisers',
  'CJ Affiliate': 'commissions; identifies the visitor to publishers',
  'Criteo OneTag': 'retargeting',
  'LINE Tag': 'conversions and audiences of LINE',
  'LinkedIn Insight': 'conversions and audiences of LinkedIn',
  LiveIntent: 'identities, sold to advertisers',
  LiveRamp: 'identities, sold to advertisers',
  'Meta Pixel': 'conversions and audiences of Meta',
  'Nextdoor Pixel': 'conversions of Nextdoor',
  'Outbrain Pixel': 'conversions and audiences of Outbrain',
  'Pinterest Tag': 'conversions and audiences of Pinterest',
  'Quora Pixel': 'conversions and audiences of Quora',
  'RTB House': 'retargeting',
  'Rakuten Advertising': 'commissions and retargeting',
  'Reddit Pixel': 'conversions and audiences of Reddit',
  'Seznam Sklik': 'conversions and retargeting of Seznam',
  'Snapchat Pixel': 'conversions and audiences of Snapchat',
  'Sojern Pixel': 'retargeting for travel',
  'Spotify Ad Analytics': 'conversions of podcast advertising',
  StackAdapt: 'conversions and retargeting',
  'Taboola Pixel': 'conversions and audiences of Taboola',
  'Teads Universal Pixel': 'conversions and audiences of Teads',
  'The Trade Desk': 'audiences for bidding',
  'TikTok Pixel': 'conversions and audiences of TikTok',
  'VK Pixel': 'conversions and audiences of VK',
  'X Pixel': 'conversions and audiences of X',
  'Yahoo Dot Tag': 'conversions and audiences of Yahoo',
  'Zemanta Pixel': 'conversions of Zemanta',
}
