/**
 * CSS selectors for the buttons of a widely used consent banner. They are also matched inside shadow trees and frames.
 */
export interface KnownBanner {
  name: string
  accept: readonly string[]
  deny: readonly string[]
  /** Buttons that open the options. They are clicked when no `deny` button is visible yet. */
  options?: readonly string[]
}

export const KNOWN_CONSENT_BANNERS: readonly KnownBanner[] = [
  {
    name: 'OneTrust',
    accept: ['#onetrust-accept-btn-handler', '#accept-recommended-btn-handler'],
    deny: ['#onetrust-reject-all-handler', '.ot-pc-refuse-all-handler'],
    options: ['#onetrust-pc-btn-handler'],
  },
  {
    name: 'Cookiebot',
    accept: ['#CybotCookiebotDialogBodyLevelButtonLevelOptinAllowAll', '#CybotCookiebotDialogBodyButtonAccept'],
    deny: ['#CybotCookiebotDialogBodyButtonDecline', '#CybotCookiebotDialogBodyLevelButtonLevelOptinDeclineAll'],
  },
  {
    name: 'Didomi',
    accept: ['#didomi-notice-agree-button'],
    deny: [
      '#didomi-notice-disagree-button',
      '.didomi-continue-without-agreeing',
      '.didomi-consent-popup-actions .didomi-components-button:first-child',
    ],
    options: ['#didomi-notice-learn-more-button'],
  },
  {
    name: 'Usercentrics',
    accept: ['[data-testid="uc-accept-all-button"]', '#usercentrics-cmp-ui #accept', 'button#accept.uc-accept-button'],
    deny: ['[data-testid="uc-deny-all-button"]', '#usercentrics-cmp-ui #deny', 'button#deny.uc-deny-button'],
  },
  {
    name: 'Quantcast',
    accept: ['.qc-cmp2-summary-buttons button[mode="primary"]', '#qc-cmp2-ui button#accept-btn'],
    deny: ['#qc-cmp2-ui button#disagree-btn', '.qc-cmp2-header-links button[mode="link"]:first-child'],
    options: ['#qc-cmp2-ui button#more-options-btn'],
  },
  {
    name: 'TrustArc',
    accept: ['#truste-consent-button', '.truste_popframe .call', 'a.acceptAllButtonLower'],
    deny: ['#truste-consent-required', 'a.declineAllButtonLower', 'a.rejectAll'],
  },
  {
    name: 'consentmanager',
    accept: ['#cmpwelcomebtnyes a', '#cmpbntyestxt', '.cmpboxbtnyes'],
    deny: ['#cmpwelcomebtnno a', '#cmpbntnotxt', '.cmpboxbtnno'],
  },
  {
    name: 'Klaro',
    accept: ['.klaro .cm-btn-success', '.klaro .cm-btn-accept-all'],
    deny: ['.klaro .cn-decline', '.klaro .cm-btn-decline'],
  },
  { name: 'Complianz', accept: ['.cmplz-cookiebanner .cmplz-accept'], deny: ['.cmplz-cookiebanner .cmplz-deny'] },
  {
    name: 'CookieYes',
    accept: ['.cky-btn-accept', '#wt-cli-accept-all-btn', '#cookie_action_close_header'],
    deny: ['.cky-btn-reject', '#cookie_action_close_header_reject'],
  },
  { name: 'Iubenda', accept: ['.iubenda-cs-accept-btn'], deny: ['.iubenda-cs-reject-btn'] },
  {
    name: 'Osano',
    accept: ['.osano-cm-accept-all', '.osano-cm-accept'],
    deny: ['.osano-cm-denyAll', '.osano-cm-deny'],
  },
  // The type of a button shows its effect: 11 accepts all, 13 rejects all, and 12 shows the options.
  {
    name: 'Sourcepoint',
    accept: ['button.sp_choice_type_11', 'button.sp_choice_type_ACCEPT_ALL'],
    deny: ['button.sp_choice_type_13', 'button.sp_choice_type_REJECT_ALL'],
    options: ['button.sp_choice_type_12'],
  },
  { name: 'Axeptio', accept: ['#axeptio_btn_acceptAll'], deny: ['#axeptio_btn_dismiss'] },
  {
    name: 'Borlabs',
    accept: ['#BorlabsCookieBox [data-cookie-accept-all]', '.brlbs-btn-accept-all'],
    deny: ['#BorlabsCookieBox [data-cookie-refuse]', '.brlbs-btn-accept-only-essential'],
  },
  { name: 'Google', accept: ['.fc-cta-consent'], deny: ['.fc-cta-do-not-consent'] },
  {
    name: 'Cookie First',
    accept: ['[data-cookiefirst-action="accept"]'],
    deny: ['[data-cookiefirst-action="reject"]'],
  },
  { name: 'Termly', accept: ['[data-tid="banner-accept"]'], deny: ['[data-tid="banner-decline"]'] },
  { name: 'HubSpot', accept: ['#hs-eu-confirmation-button'], deny: ['#hs-eu-decline-button'] },
  {
    name: 'Shopify',
    accept: ['#shopify-pc__banner__btn-accept'],
    deny: ['#shopify-pc__banner__btn-decline'],
  },
  { name: 'Tarteaucitron', accept: ['#tarteaucitronPersonalize2'], deny: ['#tarteaucitronAllDenied2'] },
  {
    name: 'CookieConsent',
    accept: ['#cc-main [data-role="all"]', '.cc-window .cc-allow', '.cc-window .cc-dismiss'],
    deny: ['#cc-main [data-role="necessary"]', '.cc-window .cc-deny'],
  },
  { name: 'Cookie Notice', accept: ['#cn-accept-cookie'], deny: ['#cn-refuse-cookie'] },
  { name: 'Cookie-Script', accept: ['#cookiescript_accept'], deny: ['#cookiescript_reject'] },
  {
    name: 'Moove',
    accept: ['.moove-gdpr-infobar-allow-all'],
    deny: ['.moove-gdpr-infobar-reject-btn'],
  },
]

/**
 * Labels of banner buttons in lower case, in English, German, French, Spanish, Italian, Dutch, Polish, Portuguese,
 * Swedish and Danish.
 */
export const BUTTON_WORDS = {
  accept: [
    ...['accept', 'accept all', 'accept all cookies', 'accept cookies', 'allow', 'allow all', 'allow all cookies'],
    ...['allow cookies', 'agree', 'i agree', 'agree to all', 'i accept', 'agree and continue', 'accept and continue'],
    ...['accept & continue', 'yes, i agree', 'got it', 'ok', 'okay'],
    ...['akzeptieren', 'alle akzeptieren', 'alle cookies akzeptieren', 'cookies akzeptieren', 'zustimmen'],
    ...[
      'allen zustimmen',
      'alle zulassen',
      'alle erlauben',
      'einverstanden',
      'ich stimme zu',
      'annehmen',
      'alle annehmen',
    ],
    ...[
      'accepter',
      'tout accepter',
      'accepter tout',
      "j'accepte",
      'accepter et fermer',
      'accepter les cookies',
      'autoriser',
    ],
    ...['aceptar', 'aceptar todo', 'aceptar todas', 'aceptar cookies', 'aceptar todas las cookies', 'acepto'],
    ...['accetta', 'accetta tutto', 'accetta tutti', 'accetta tutti i cookie', 'accetto', 'accetta e continua'],
    ...['accepteren', 'alles accepteren', 'alle cookies accepteren', 'akkoord', 'accepteer', 'accepteer alle cookies'],
    ...[
      'akceptuj',
      'akceptuję',
      'akceptuj wszystkie',
      'akceptuję wszystkie',
      'zaakceptuj',
      'zgadzam się',
      'zaakceptuj wszystko',
    ],
    ...['aceitar', 'aceitar tudo', 'aceitar todos', 'aceitar todos os cookies', 'concordo'],
    ...[
      'acceptera',
      'acceptera alla',
      'godkänn',
      'godkänn alla',
      'accepter alle',
      'tillad alle',
      'accepter alle cookies',
    ],
  ],
  deny: [
    ...[
      'reject',
      'reject all',
      'reject all cookies',
      'decline',
      'decline all',
      'deny',
      'deny all',
      'refuse',
      'refuse all',
    ],
    ...[
      'only necessary',
      'necessary only',
      'only necessary cookies',
      'use necessary cookies only',
      'necessary cookies only',
    ],
    ...['only essential', 'essential only', 'essential cookies only', 'accept only essential', 'accept necessary'],
    ...[
      'continue without accepting',
      'continue without agreeing',
      'no, thanks',
      'no thanks',
      'disagree',
      'i do not agree',
    ],
    ...['ablehnen', 'alle ablehnen', 'alles ablehnen', 'nur notwendige', 'nur notwendige cookies', 'nur erforderliche'],
    ...[
      'nur essenzielle',
      'nur essenzielle cookies',
      'nur essenzielle cookies akzeptieren',
      'weiter ohne einwilligung',
    ],
    ...['ohne zustimmung fortfahren', 'nicht zustimmen', 'nur technisch notwendige', 'nur erforderliche cookies'],
    ...['refuser', 'tout refuser', 'refuser tout', 'je refuse', 'continuer sans accepter', 'refuser les cookies'],
    ...['rechazar', 'rechazar todo', 'rechazar todas', 'solo necesarias', 'continuar sin aceptar', 'rechazar cookies'],
    ...['rifiuta', 'rifiuta tutto', 'rifiuta tutti', 'solo necessari', 'continua senza accettare', 'rifiuto'],
    ...[
      'weigeren',
      'alles weigeren',
      'afwijzen',
      'alles afwijzen',
      'alleen noodzakelijk',
      'alleen noodzakelijke cookies',
    ],
    ...['odrzuć', 'odrzuć wszystkie', 'odrzuć wszystko', 'tylko niezbędne', 'odmawiam', 'nie zgadzam się'],
    ...['rejeitar', 'rejeitar tudo', 'rejeitar todos', 'recusar', 'recusar tudo', 'apenas necessários'],
    ...['neka', 'neka alla', 'avvisa', 'avvisa alla', 'endast nödvändiga', 'afvis', 'afvis alle', 'kun nødvendige'],
  ],
} as const
