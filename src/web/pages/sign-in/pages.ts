/** The pages of this folder are one file of script. */
export { ResetPage } from './reset.tsx'
export { InvitePage, SetUpPage } from './set-up.tsx'
