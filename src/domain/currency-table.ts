// A pure table: the active codes of ISO 4217 list one that have a minor unit, by its digits, as of
// amendment 180 (Bulgaria took the euro on 2026-01-01). A later amendment changes only this file.

/**
 * Not here because withdrawn: BYR, HRK, SLL, ZWL, ANG (now XCG), CUC, BGN and all before them.
 * Not here because without a minor unit, so that no amount could be printed: metals (XAU, XAG, XPT,
 * XPD), units of account (XDR, XSU, XUA, XBA to XBD), the test code XTS and "no currency" XXX.
 */
export const currencyTable = [
  {
    minorDigits: 0,
    codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  },
  {
    minorDigits: 2,
    codes: `
      AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
      CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
      GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK
      LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO
      NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS
      SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST
      XAD XCD XCG YER ZAR ZMW ZWG`,
  },
  { minorDigits: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
  { minorDigits: 4, codes: 'CLF UYW' },
] as const
