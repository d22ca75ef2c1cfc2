// The other labels of invoices and receipts as data, by the members of the task's output and by language. Accents, case and punctuation do
// not matter (phrases.ts). amount-labels.ts has the labels of amounts.

import { createPhraseTable } from "./phrases.ts";

const number = "no|number|#|num|nr|id|ref|reference|n °|n|no #";

/** Every noun with every word for "number". */
function numbered(nouns: string, words = number): string {
  return combine(nouns, words, (noun, word) => [`${noun} ${word}`]);
}

/** In both orders: "invoice no", "no invoice", and with the links between "no of the invoice". */
function named(nouns: string, words: string, links: string): string {
  const between = links === "" ? [] : links.split("|");
  return combine(nouns, words, (noun, word) => [
    `${noun} ${word}`,
    `${word} ${noun}`,
    ...between.map((link) => `${word} ${link} ${noun}`),
  ]);
}

/** As one word: "rechnungsnummer". */
function joined(nouns: string, words: string): string {
  return combine(nouns, words, (noun, word) => [`${noun}${word}`]);
}

function combine(nouns: string, words: string, toPhrases: (noun: string, word: string) => string[]): string {
  return nouns
    .split("|")
    .flatMap((noun) => words.split("|").flatMap((word) => toPhrases(noun, word)))
    .join("|");
}

export type IdKind =
  | "none"
  | "invoice_receipt_id"
  | "weak_id"
  | "order_id"
  | "bare_id"
  | "purchase_order"
  | "customer_number"
  | "vat_number"
  | "tax_id"
  | "siret_number"
  | "siren_number"
  | "abn_number"
  | "gst_number"
  | "pan_number"
  | "business_number"
  | "coc_number"
  | "registration"
  | "transaction_number"
  | "payment_auth_code"
  | "tracking_number"
  | "reference";

export const idLabels = createPhraseTable<IdKind>({
  none: { en: "po box|p o box|post office box|ref only", fr: "bp", es: "apartado", de: "postfach" },
  invoice_receipt_id: {
    en: `${named("invoice|tax invoice|inv|bill|receipt|credit note|credit memo|credit|document|doc|statement|sales invoice|sales receipt|tax receipt|note|voucher|slip|vat invoice|refund|self billing invoice|memo|cash sale|ticket|till receipt", `${number}|code|serial|serial no`, "of|of the|for")}|our invoice`,
    de: `${named("rechnung|rechnungs|beleg|bon|quittung|gutschrift|gutschrifts|rg|re|quittungs|dokument|dokumenten|faktura|fakturen|kassenbon|storno|stornorechnung|kassenbeleg|schlussrechnung|korrekturrechnung|ticket|rechn", "nr|nummer|no|id", "der|des|zur")}|${joined("rechnungs|rechnung|beleg|bon|gutschrifts|gutschrift|quittungs|dokument|dokumenten|faktura|fakturen|kassenbon|stornorechnungs|rg|re|ticket", "nummer|nr|no|id|kennung")}|rechnung|rechnungszeichen|unsere rechnung`,
    fr: `${named("facture|avoir|recu|ticket|piece|note|document|facture d avoir|facture acompte|note d honoraires|quittance|justificatif|bordereau", "no|n °|n|numero|num|nr|#|reference|ref|id", "de|de la|d|du|de l")}|identifiant facture`,
    es: `${named("factura|recibo|ticket|boleta|nota de credito|factura simplificada|abono|factura rectificativa|documento|comprobante|tique|rectificativa|fra|fact", "no|n °|n|numero|num|nr|#|nro|ref|referencia|codigo|id", "de|de la|del")}|factura folio|serie y numero|serie numero|folio|folio fiscal|factura`,
    it: `${named("fattura|ricevuta|scontrino|documento|nota di credito|doc|fattura elettronica|nota credito|fatt|parcella|nota di accredito|documento commerciale", "n|no|nr|num|numero|n °|rif|riferimento|id|codice", "di|della|del|d")}|numero nota`,
    pt: `${named("fatura|factura|nota fiscal|recibo|fatura recibo|nota de credito|nf|nf e|nfs e|cupom|documento|talao|fatura simplificada|nota|doc", "n|no|n °|numero|num|nr|ref|referencia|id|codigo", "da|de|do")}`,
    nl: `${named("factuur|bon|creditnota|creditfactuur|kassabon|document|nota|rekening|kwitantie|verkoopfactuur", "nr|nummer|no|id|referentie", "van de|van")}|${joined("factuur|bon|creditnota|creditfactuur|document|kassabon|nota|rekening", "nummer|nr|no|referentie|kenmerk")}`,
    pl: `${named("faktura|faktury|faktura vat|faktury vat|paragon|paragonu|faktura korygujaca|faktury korygujacej|rachunek|rachunku|paragon fiskalny|dokument|dokumentu|korekta|korekty|fv", "nr|numer|no|n °|id", "")}|faktura vat`,
    sv: `${named("faktura|fakturans|kvitto|kreditfaktura|kvittens|dokument|rakning|nota|kreditnota", "nr|nummer|no|id|ref|referens", "")}|${joined("faktura|kvitto|kreditfaktura|kreditnota|dokument|rakning|nota", "nummer|nr|no|referens")}`,
    da: `${named("faktura|kvittering|kreditnota|bilag|dokument|bon|regning|fakturaens|kvitterings|bilags", "nr|nummer|no|id|ref", "")}|${joined("faktura|kvitterings|kreditnota|bilags|dokument|bon|regnings", "nummer|nr|no|reference")}`,
    no: `${named("faktura|kvittering|kreditnota|bilag|dokument|bong|regning", "nr|nummer|no|id|ref", "")}|${joined("faktura|kvitterings|kreditnota|bilags|dokument|bong", "nummer|nr|no|referanse")}`,
    fi: `${named("lasku|laskun|kuitti|kuitin|hyvityslasku|hyvityslaskun|tosite|tositteen|asiakirja|dokumentti", "nro|nr|numero|no|tunnus|n °|id", "")}|${joined("lasku|kuitti|hyvityslasku|tosite", "numero|nro|nr|tunnus")}`,
    cs: `${named("faktura|faktury|danovy doklad|danoveho dokladu|faktura danovy doklad|doklad|dokladu|paragon|paragonu|dobropis|dobropisu|uctenka|uctenky|opravny danovy doklad|opravneho danoveho dokladu|zjednoduseny danovy doklad", "c|cislo|no|nr|ev c|evidencni cislo", "")}`,
    tr: `${named("fatura|faturanin|fis|belge|makbuz|adisyon|e fatura|e arsiv fatura|evrak|iade faturasi", "no|numarasi|nr|numara|sira no|seri no|id", "")}`,
    ja: "請求書番号|請求番号|領収書番号|伝票番号|領収番号|レシート番号|請求書no|請求書ナンバー|伝票no|レシートno|管理番号|発行番号|領収証番号|書類番号|請求no|領収書no|取引伝票番号|インボイス番号|請求書ナンバ|請求書id|文書番号",
    zh: "发票号码|发票编号|票据号码|单号|发票号|小票号|發票號碼|账单编号|收据编号|发票代码及号码|单据编号|流水号|發票編號|账单号|收据号|收据号码|单据号|小票编号|單號|帳單編號|收據編號|票号|凭证号|发票序号|结算单号",
    hu: "szamlaszam|szamla sorszama|sorszam|szamla szama|bizonylatszam|bizonylat sorszama|nyugtaszam|szamla szam",
    ro: `${named("factura|facturii|bon|bon fiscal|chitanta|document|documentului", "nr|numar|numarul|no|seria si nr", "")}|seria si numarul`,
  },
  weak_id: {
    en: numbered("check|chk|trans|transaction|sale|table check|folio|job"),
    de: "vorgangsnummer|vorgang nr|vorgangsnr",
  },
  // The number of a receipt, and the order of an invoice that has a number of its own.
  order_id: {
    en: `${named("order|sales order|work order|job order", number, "of|of the")}|order`,
    de: `${named("auftrag|auftrags|bestell|order", "nr|nummer|no", "des|der")}|auftragsnummer|auftragsnr|auftrag`,
    fr: named("commande", "no|n °|n|numero|num|nr|#|ref|reference", "de|de la|de votre|d"),
  },
  purchase_order: {
    en: `${named("po|p o|purchase order|your order|customer po|cust po|customer order|your po|buyer order|client order|buyer po|client po|requisition", "no|number|#|num|nr|ref|reference|n °|id|code", "of|of your|for your")}|po|p o|purchase order|your po|your order|your reference|your ref|customer reference|customer ref|client ref|client reference|buyer reference|buyer ref|po ref|against order|against po`,
    de: `${named("bestellung|ihre bestellung|ihrer bestellung|ihr auftrag|kundenbestellung|kundenauftrag|ihr bestell|einkaufsbestellung", "nr|nummer|no|ref|referenz|vom", "der|des|zu|zur")}|${joined("bestell|bestellungs|kundenauftrags|einkaufs|bestellauftrags", "nummer|nr|referenz|zeichen|id")}|bestell nr|bestell nummer|ihre bestellung|ihre bestellnummer|ihr auftrag|ihr zeichen|ihre referenz|ihre bestellnr|bestellung|zu ihrer bestellung|po nummer|po nr`,
    fr: `${named("bon de commande|votre commande|vos commandes|commande client|bdc|bc|commande d achat", "no|n °|n|numero|num|nr|#|ref|reference", "de|du|de votre|d")}|bon de commande|votre commande|commande|votre reference|votre ref|reference commande|ref commande|vos references|vos ref|reference client commande`,
    es: `${named("pedido|orden de compra|su pedido|orden|oc|pedido de compra|pedido cliente|pedido del cliente", "no|n °|n|numero|num|nr|#|nro|ref|referencia", "de|de su|del|de la")}|pedido|orden de compra|su pedido|su referencia|su ref|vuestro pedido|s pedido|ref pedido`,
    it: `${named("ordine|vs ordine|vostro ordine|ordine di acquisto|ordine d acquisto|ordine cliente|oda|suo ordine", "n|no|nr|num|numero|n °|rif|riferimento|id", "di|dell|del|d|al|vs|vostro")}|ordine|vs ordine|vostro ordine|ordine di acquisto|ordine d acquisto|vs rif|vostro riferimento|suo ordine|ordine cliente|vs riferimento`,
    pt: `${named("pedido|encomenda|nota de encomenda|ordem de compra|vossa encomenda|requisicao|sua encomenda|oc|pedido de compra|v encomenda", "n|no|n °|numero|num|nr|ref|referencia", "da|de|do|da vossa|da sua")}|pedido|encomenda|ordem de compra|nota de encomenda|vossa encomenda|vossa referencia|v referencia|v ref|sua referencia|requisicao|sua encomenda`,
    nl: `${named("order|bestelling|uw order|uw bestelling|inkooporder|opdracht|inkoop|uw opdracht|klantorder", "nr|nummer|no|referentie|ref", "van uw|van de|van")}|${joined("order|bestel|inkooporder|opdracht|inkoop|po", "nummer|nr|referentie|bon")}|uw ordernummer|uw referentie|uw ref|uw bestelnummer|uw bestelling|uw order|uw kenmerk|order|bestelling|uw opdracht|inkooporder|po nummer`,
    pl: `${named("zamowienie|zamowienia|zam|wasze zamowienie|panstwa zamowienie|zlecenie|zlecenia|zamowienie klienta", "nr|numer|no|ref", "do|z|wg")}|zamowienie|zlecenie|do zamowienia|wg zamowienia|wasze zamowienie|panstwa zamowienie`,
    sv: `${named("order|er order|bestallning|er bestallning|inkopsorder|rekvisition|ert order", "nr|nummer|no|ref|referens", "")}|${joined("order|bestallnings|inkopsorder|rekvisitions", "nummer|nr|referens")}|er referens|er ref|er order|er bestallning|bestallning|rekvisition|ert ordernummer|ert ordernr|inkopsorder`,
    da: `${named("ordre|jeres ordre|deres ordre|bestilling|rekvisition|indkobsordre|kundeordre", "nr|nummer|no|ref", "")}|${joined("ordre|rekvisitions|bestillings|indkobsordre|kundeordre", "nummer|nr|ref")}|rekvisition|jeres ref|deres ref|deres ordre|jeres ordre|indkobsordre|jeres reference|deres reference|bestilling|ordre`,
    no: `${named("ordre|deres ordre|bestilling|innkjopsordre|rekvisisjon|kundeordre", "nr|nummer|no|ref", "")}|${joined("ordre|bestillings|innkjopsordre|rekvisisjons|kundeordre", "nummer|nr|ref")}|deres ref|deres referanse|deres ordre|innkjopsordre|rekvisisjon|bestilling|ordre`,
    fi: `${named("tilaus|tilauksen|ostotilaus|ostotilauksen|tilauksenne|asiakkaan tilaus", "nro|nr|numero|no|viite|tunnus", "")}|${joined("tilaus|ostotilaus", "numero|nro|nr|viite|tunnus")}|ostotilaus|tilauksenne|viitteenne|tilausviite|tilaus`,
    cs: `${named("objednavka|objednavky|vase objednavka|vasi objednavky|zakazka|zakazky", "c|cislo|no|nr|ref", "")}|objednavka|vase objednavka|dle objednavky|zakazka`,
    tr: `${named("siparis|siparisiniz|satin alma siparisi|musteri siparis", "no|numarasi|nr|numara|referans", "")}|siparis|siparisiniz`,
    ja: "注文番号|発注番号|ご注文番号|注文書番号|貴社注文番号|発注no|注文no|発注書番号|購買番号|po番号|貴社発注番号",
    zh: "订单号|采购订单号|订单编号|采购订单|采购单号|訂單編號|采购订单编号|订单号码|採購單號|订购单号|合同订单号|客户订单号",
    hu: "rendelesszam|megrendeles szama|rendelesi szam|megrendeles|rendeles szama",
    ro: named("comanda|comenzii|comanda dvs", "nr|numar|numarul|no", ""),
  },
  customer_number: {
    en: named(
      "customer|client|account|acct|cust|customer account|guest|member|buyer|debtor|subscriber",
      "no|number|#|num|nr|id|ref|code|reference|n °",
      "of",
    ),
    de: `${named("kunde|kunden|kd|debitor|debitoren|mandant|mitglied|mitglieds", "nr|nummer|no|id|konto", "des")}|${joined("kunden|kund|debitoren|debitor|kd|mandanten|mitglieds", "nummer|nr|id|konto")}`,
    fr: named("client|compte client|adherent|abonne", "n °|no|numero|code|ref|reference|num|id|identifiant", "de|du|d"),
    es: named("cliente|abonado|socio", "no|n °|n|numero|num|nro|codigo|cod|id|ref|referencia", "de|del"),
    it: named("cliente|codice cliente|abbonato|utente", "n|no|nr|num|numero|n °|codice|cod|id|rif", "del|di"),
    pt: named("cliente|assinante", "n|no|n °|numero|num|nr|codigo|cod|id|ref", "de|do|da"),
    nl: `${named("klant|klanten|debiteur|debiteuren|relatie|client", "nr|nummer|no|id|code", "van de")}|${joined("klant|klanten|debiteur|debiteuren|relatie|client", "nummer|nr|code|id")}`,
    pl: named("klient|klienta|nabywcy|kontrahenta|odbiorcy|kontrahent", "nr|numer|kod|id|no", ""),
    sv: `${named("kund|kundens|medlem|abonnent", "nr|nummer|no|id", "")}|${joined("kund|medlems|abonnent|kundens", "nummer|nr|id")}`,
    da: `${named("kunde|kundens|debitor|medlem", "nr|nummer|no|id", "")}|${joined("kunde|debitor|medlems", "nummer|nr|id")}`,
    no: `${named("kunde|kundens|medlem|debitor", "nr|nummer|no|id", "")}|${joined("kunde|medlems|debitor", "nummer|nr|id")}`,
    fi: `${named("asiakas|asiakkaan|jasen|jasenen", "nro|numero|nr|tunnus|id|no", "")}|${joined("asiakas|jasen", "numero|nro|nr|tunnus")}`,
    cs: `${named("zakaznik|zakaznika|odberatele|odberatel|klienta|klient", "c|cislo|no|kod|id", "")}|zakaznicke cislo`,
    tr: named("musteri|alici|cari|abone", "no|numarasi|kodu|numara|id", ""),
    ja: "お客様番号|顧客番号|お客様コード|得意先コード|顧客コード|お客様no|会員番号|取引先コード|得意先番号|顧客no|お客様id",
    zh: "客户编号|客户号|客户代码|客戶編號|会员号|客户编码|客户id|客戶代碼|会员编号",
    hu: "ugyfelszam|vevokod|vevo azonosito|ugyfelkod|vevoszam",
    ro: named("client|clientului|abonat", "nr|numar|cod|id|codul", ""),
  },
  vat_number: {
    en: "vat|vat no|vat number|vat reg no|vat reg|vat registration no|vat registration number|vat registration|vat id|vat id no|vat reg number|vat #|eu vat|vat identification number",
    de: "ust id|ust idnr|ust id nr|ust ident nr|umsatzsteuer id|uid|uid nr|uid nummer|mwst nr|mwst nummer|umsatzsteuer identifikationsnummer|ustid|ustidnr|ust nr|mwst",
    fr: "tva|no tva|n ° tva|numero de tva|tva intracommunautaire|tva intra|n ° tva intracommunautaire|no de tva|n ° de tva|numero tva|tva n °|no tva intracommunautaire|id tva|num tva|numero de tva intracommunautaire",
    es: "nif iva|iva intracomunitario|cif intracomunitario|vat nif",
    it: "p iva|partita iva|piva|p i|part iva|p iva c f|p iva e c f|partita iva e codice fiscale",
    nl: "btw|btw nummer|btw nr|btw id|btw identificatienummer",
    sv: "momsreg nr|moms reg nr|momsregnr|momsregistreringsnummer|vat nr|momsnr",
    da: "momsnr|moms nr",
    fi: "alv tunnus|alv nro|alv rek",
    cs: "dic",
    pl: "vat ue|nip ue",
    pt: "n iva",
  },
  tax_id: {
    en: "tax id|tax no|tax number|tax id no|tax id number|ein|tin|fein|federal tax id|tax reg no|tax registration number|fed tax id|tax id ein|federal id|tax identification number",
    de: "steuernummer|steuer nr|steuernr|st nr|stnr",
    es: "nif|cif|nif cif|cif nif|rfc|cuit|rut|nit|ruc|n i f|c i f|dni|nif iva",
    fr: "numero fiscal|identifiant fiscal",
    it: "codice fiscale|cod fisc|c f|cod fiscale|cf",
    pt: "nif|cnpj|contribuinte|nipc|cpf|n ° contribuinte|contribuinte n|cnpj cpf|cpf cnpj|numero de contribuinte|n contribuinte|no contribuinte",
    pl: "nip",
    sv: "org nr|organisationsnummer|orgnr|org nummer",
    da: "cvr|cvr nr|se nr|cvrnr|cvr nummer|cvr no",
    no: "org nr|organisasjonsnummer|orgnr|foretaksregisteret|org nummer|org no",
    fi: "y tunnus|ytunnus",
    tr: "vergi no|vkn|vergi numarasi|vergi kimlik no|vd no|tckn|vkn tckn",
    ja: "登録番号|適格請求書発行事業者登録番号|事業者登録番号",
    zh: "纳税人识别号|税号|统一社会信用代码|统一编号|統一編號|统一社会信用代码 纳税人识别号|納稅人識別號",
  },
  siret_number: { fr: "siret|n ° siret|no siret|numero siret|siret no|siret n °" },
  siren_number: { fr: "siren|n ° siren|no siren|siren no" },
  abn_number: { en: "abn|a b n|abn no" },
  gst_number: {
    en: "gstin|gst no|gst number|gst reg no|gst registration no|gst reg|gst registration number|gst id|gst #|gst hst no|gst hst|gstin no|gstin uin|gst hst #|hst #|hst no|gst hst number|hst registration|gst registration|hst number",
  },
  pan_number: { en: "pan|pan no|pan number|permanent account number|company s pan|companys pan" },
  business_number: { en: "business number|bn|nzbn|uen|business no|acn|co reg no|brn" },
  coc_number: {
    nl: "kvk|kvk nummer|kvk nr|k v k|handelsregister nr|coc|kvknr",
    en: "chamber of commerce|coc no|coc number",
  },
  registration: {
    en: "company reg|company reg no|company registration|company registration no|company registration number|company no|company number|registered no|registered number|registration no|registration number|reg no|registration|registered in england no|registered in england and wales no|co no|cin|crn|reg number",
    de: "hrb|hra|handelsregister|amtsgericht|handelsregisternummer|hr nr",
    fr: "rcs|r c s|numero rcs|no rcs",
    it: "rea|n rea|numero rea",
    pl: "krs|regon",
    cs: "ico|ic",
    sv: "bolagsnummer",
  },
  transaction_number: {
    en: numbered("trans|transaction|tran|trx|txn", "no|number|#|num|nr|id|ref"),
    de: "ta nr|transaktionsnummer|transaktionsnr|trace nr|transaktion nr",
    fr: "numero de transaction|no transaction|n ° transaction|transaction n °",
    es: "transaccion|numero de transaccion|operacion|no operacion",
    it: "numero transazione|transazione n",
    nl: "transactie|transactienummer|transactie nr",
    ja: "取引番号",
    zh: "交易号|交易单号|交易编号|交易流水号",
  },
  payment_auth_code: {
    en: "auth|auth code|authorization|authorisation|authorization code|authorisation code|auth no|approval code|auth #|approval|approval no|appr code|authcode|authorization no",
    de: "genehmigungsnummer|genehmigungs nr|autorisierung|genehmigungsnr|as proc code",
    fr: "autorisation|no autorisation|n ° autorisation|numero d autorisation",
    es: "autorizacion|aut|no autorizacion|codigo de autorizacion|cod aut",
    it: "autorizzazione|aut|cod aut",
    pt: "autorizacao|aut",
    nl: "autorisatiecode|autorisatie",
    ja: "承認番号",
    zh: "授权码|授權碼",
  },
  tracking_number: {
    en: "tracking|tracking no|tracking number|tracking #|awb|awb no|tracking id|consignment no",
    de: "sendungsnummer|sendungsverfolgung|trackingnummer",
    fr: "numero de suivi|no de suivi|n ° de suivi",
    es: "numero de seguimiento|no de seguimiento",
    zh: "运单号|快递单号",
    ja: "追跡番号|送り状番号",
  },
  // Below the title of the document.
  bare_id: {
    en: "no|number|#|num|no #",
    de: "nr|nummer",
    fr: "n °|numero|no|n",
    es: "n °|numero|num",
    it: "n|nr|numero|n °",
    pt: "n °|numero",
    nl: "nr|nummer",
    pl: "nr|numer",
    sv: "nr|nummer",
    da: "nr|nummer",
    no: "nr|nummer",
    fi: "nro|numero",
    cs: "c|cislo",
    tr: "no|numara|numarasi",
    ja: "番号|no",
    zh: "编号|号码|編號|號碼",
  },
  reference: {
    en: "reference|ref|reference no|our ref|our reference|payment reference|ref no|reference number|remittance reference|ref #|payment ref|original invoice|original invoice no|original invoice number|invoice ref|related invoice|credited invoice|for invoice|re invoice",
    de: "referenz|referenznummer|verwendungszweck|unser zeichen|zahlungsreferenz|referenz nr|ursprungliche rechnung|zu rechnung|zur rechnung|zu rechnung nr|zur rechnung nr|ursprungsrechnung|originalrechnung|bezug rechnung|rechnungsbezug",
    fr: "reference|ref|notre reference|reference de paiement|references|communication|facture d origine|facture initiale|sur facture|facture concernee|facture de reference",
    es: "referencia|ref|nuestra referencia|referencia de pago|factura original|factura rectificada|factura de referencia",
    it: "riferimento|rif|nostro riferimento|causale|fattura originale|rif fattura|fattura di riferimento|riferimento fattura",
    pt: "referencia|nossa referencia|ref|fatura original|fatura de origem|documento de origem|factura original",
    nl: "referentie|kenmerk|betalingskenmerk|onze referentie|ons kenmerk|betalingsreferentie|oorspronkelijke factuur|originele factuur|betreft factuur",
    pl: "referencja|tytul przelewu|tytulem|faktura korygowana|faktura pierwotna|do faktury|dotyczy faktury|korekta do faktury",
    sv: "ocr|ocr nummer|referens|var referens|ocr nr|betalningsreferens|referensnummer|ursprunglig faktura|avser faktura|krediterar faktura",
    da: "reference|vores ref|betalings id|oprindelig faktura|vedr faktura|vedrorende faktura",
    no: "kid|kid nr|kid nummer|referanse|var ref|kidnr|var referanse|opprinnelig faktura|gjelder faktura",
    fi: "viitenumero|viite|viitteemme|viitenro|alkuperainen lasku|hyvitetaan lasku",
    cs: "variabilni symbol|vs|var symbol|puvodni faktura|k fakture|opravovana faktura",
    tr: "referans|referans no",
    ja: "参照番号|整理番号",
    zh: "参考号|备注编号",
  },
});

export type DateKind = "invoice_due_date" | "order_date" | "other" | "period" | "invoice_date";

export const dateLabels = createPhraseTable<DateKind>({
  invoice_due_date: {
    en: "due date|payment due|payment due date|due|due on|due by|pay by|payment by|date due|payable by|please pay by|payment due by|due for payment|payment deadline|pay before|payment due on|payable on|payable before|balance due by|balance due on|settlement date|please pay before|amount due by|total due by|is due on|payment is due by|payment is due on",
    de: "fallig|fallig am|falligkeit|falligkeitsdatum|zahlbar bis|zahlungsziel|zahlungsfrist|zahlung bis|fallig bis|zu zahlen bis|zahlungstermin|zahlbar bis zum|fallig zum|faellig am|zahlbar bis spatestens|bitte zahlen bis|faelligkeit|zahlbar am|zahlung fallig am",
    fr: "date d echeance|echeance|echeance le|date limite de paiement|a payer avant le|a regler avant le|date echeance|payable le|payable avant le|date de reglement|limite de paiement|a payer pour le|a regler le|date limite de reglement|date de paiement|echeance de paiement|echeance au",
    es: "vencimiento|fecha de vencimiento|fecha vencimiento|vence|vence el|fecha limite de pago|vto|fecha de pago|vencimientos|fecha vto|pagar antes del|fecha limite|f vencimiento",
    it: "scadenza|data scadenza|data di scadenza|scadenza pagamento|entro il|pagamento entro|pagamento entro il|scadenze|da pagare entro|da pagare entro il|scad",
    pt: "vencimento|data de vencimento|data vencimento|vence em|data limite de pagamento|pagar ate|data do vencimento|dt vencimento|vence a|data limite|prazo de pagamento|pagamento ate",
    nl: "vervaldatum|te betalen voor|uiterste betaaldatum|betalen voor|vervaldag|uiterlijk|betalen uiterlijk|uiterste betaaldag|te betalen uiterlijk|verval datum",
    pl: "termin platnosci|termin zaplaty|platne do|termin|termin platnosci do",
    sv: "forfallodatum|forfallodag|betalas senast|forfaller|betala senast|senast|forfallodato|oss tillhanda|oss tillhanda senast",
    da: "forfaldsdato|betalingsfrist|forfalder|betales senest|sidste rettidige betalingsdato|sidste betalingsdag|forfald|betalingsdato|sidste rettidige betaling|forfaldsdag",
    no: "forfallsdato|forfall|betalingsfrist|forfaller|betales innen",
    fi: "erapaiva|era pvm|viimeinen maksupaiva|erapvm|maksupaiva|maksettava viimeistaan",
    cs: "datum splatnosti|splatnost|splatne do|splatnost do|splatno do|splatno",
    tr: "vade tarihi|son odeme tarihi|vade|odeme tarihi|son odeme",
    ja: "支払期限|お支払期限|お支払い期限|支払期日|お支払期日|振込期限|お振込期限|支払い期限|支払予定日|振込期日|お支払い期日",
    zh: "到期日|付款截止日期|付款期限|到期日期|付款到期日|截止日期|應付日期|付款日期|到期付款日",
    hu: "fizetesi hatarido|esedekesseg",
    ro: "data scadentei|scadenta|termen de plata",
  },
  order_date: {
    en: "order date|ordered on|date of order|ordered|po date|purchase order date",
    de: "bestelldatum|auftragsdatum|bestellung vom|bestellt am",
    fr: "date de commande|commande du|date commande",
    es: "fecha de pedido|fecha pedido|fecha del pedido",
    it: "data ordine|data dell ordine",
    pt: "data da encomenda|data do pedido",
    nl: "orderdatum|besteldatum",
    pl: "data zamowienia",
    sv: "orderdatum|bestallningsdatum",
    da: "ordredato|bestillingsdato",
    no: "ordredato|bestillingsdato",
    fi: "tilauspaiva|tilauspvm",
    cs: "datum objednavky|datum objednani",
    tr: "siparis tarihi",
    ja: "注文日|発注日|ご注文日",
    zh: "订单日期|下单日期|訂單日期",
  },
  period: {
    en: "service period|billing period|period|statement period|subscription period|period covered|services rendered|period of service|billing cycle|usage period|for the period|service dates|stay|rental period",
    de: "leistungszeitraum|abrechnungszeitraum|zeitraum|leistungsdatum zeitraum|rechnungszeitraum|leistungs zeitraum|vertragszeitraum",
    fr: "periode|periode de facturation|periode du|periode de prestation|periode facturee|pour la periode du",
    es: "periodo|periodo de facturacion|periodo de servicio|periodo facturado",
    it: "periodo|periodo di riferimento|periodo di fatturazione",
    pt: "periodo|periodo de faturacao|periodo de faturamento|periodo de referencia",
    nl: "periode|factuurperiode",
    pl: "okres|okres rozliczeniowy|za okres",
    sv: "period|faktureringsperiod|avser period|avser perioden",
    da: "periode|faktureringsperiode",
    no: "periode|fakturaperiode|faktureringsperiode",
    fi: "laskutuskausi|ajanjakso|laskutusjakso",
    cs: "obdobi|fakturacni obdobi|zuctovaci obdobi",
    tr: "donem|fatura donemi",
    ja: "対象期間|利用期間|請求期間|ご利用期間",
    zh: "账单周期|服务期间|计费周期|结算周期",
  },
  other: {
    en: "delivery date|ship date|shipped|ship on|date shipped|date of supply|supply date|print date|printed|printed on|date of birth|service date|expiry date|expires|valid until|valid through|date of service|date printed|start date|end date|arrival|departure|check in|check out|arrival date|departure date|date delivered|contract date|reading date|next billing date|next invoice date|delivered|despatch date|dispatch date|last payment date|as of|date of delivery|original invoice date",
    de: "lieferdatum|leistungsdatum|druckdatum|geburtsdatum|liefertermin|datum der leistung|lieferung am|liefer leistungsdatum|leistung am|versanddatum|anreise|abreise|lieferscheindatum|gultig bis|datum der lieferung|tag der leistung|tag der lieferung",
    fr: "date de livraison|date de la prestation|date d execution|date de prestation|livre le|date de la vente|date de vente|date d expedition|date de naissance|valable jusqu au",
    es: "fecha de operacion|fecha de entrega|fecha operacion|fecha entrega|fecha de impresion|fecha del servicio|valido hasta|fecha de envio|fecha de prestacion",
    it: "data di consegna|data consegna|data trasporto|data ddt|data prestazione|data stampa|data nascita",
    pt: "data de entrega|data da operacao|data de saida|data saida|data da prestacao|data de carga|valido ate|data de impressao|data do servico",
    nl: "leverdatum|leveringsdatum|datum levering|geldig tot|verzenddatum",
    pl: "data sprzedazy|data dostawy|data wykonania uslugi|data dostawy wykonania uslugi|data zakonczenia dostawy|data dokonania dostawy|data wydania",
    sv: "leveransdatum|utskriftsdatum|leveransdag|giltig till",
    da: "leveringsdato|leveret|gyldig til",
    no: "leveringsdato|levert|levert dato|gyldig til",
    fi: "toimituspaiva|toimituspvm|toimitettu",
    cs: "datum uskutecneni zdanitelneho plneni|duzp|datum zdan plneni|datum dodani|datum uskut zdan plneni|datum plneni|datum zdanitelneho plneni|datum uskutecneni plneni|dat uskutecneni plneni",
    tr: "sevk tarihi|teslim tarihi|irsaliye tarihi|teslimat tarihi",
    ja: "納品日|納入日|出荷日|生年月日|有効期限|利用日|ご利用日|印刷日",
    zh: "交货日期|发货日期|打印日期|有效期|出生日期|送货日期|交付日期|服务日期",
  },
  invoice_date: {
    en: "invoice date|date of invoice|issue date|date of issue|issued|issued on|date issued|bill date|billing date|receipt date|tax date|sale date|date|dated|tax point|tax point date|date paid|invoice dated|transaction date|document date|credit note date|statement date|purchase date|date of purchase|date time|date and time|credit date|inv date|date of receipt|date of sale|invoice issued|paid on|trans date|credit memo date|invoice issue date|date of document",
    de: "rechnungsdatum|datum|ausstellungsdatum|belegdatum|vom|rechnung vom|gutschriftsdatum|datum der rechnung|datum uhrzeit|rechnungs datum|gutschriftdatum|ausgestellt am|re datum",
    fr: "date|date de facture|date de la facture|date facture|date de facturation|date d emission|emise le|emis le|le|fait le|date de l avoir|facture du|date d etablissement|date avoir|date d avoir|date du document|facturee le|date emission",
    es: "fecha|fecha de factura|fecha factura|fecha de emision|fecha emision|fecha expedicion|fecha de expedicion|emitida el|fecha de la factura|fecha hora|fecha documento|fecha y hora|fecha de compra",
    it: "data|data fattura|data documento|data emissione|data di emissione|del|data della fattura|data nota di credito|data fatt|data e ora",
    pt: "data|data da fatura|data de emissao|data emissao|data do documento|data da emissao|emitido em|data de faturacao|data documento|emissao|data hora|data da nota|data de emissao da nota|data fatura|data da fatura recibo",
    nl: "factuurdatum|datum|datum factuur|factuur datum|creditdatum|datum tijd",
    pl: "data wystawienia|data faktury|data|wystawiono|wystawiono dnia|data wystawienia faktury|dnia|wystawiona w dniu|data i miejsce wystawienia|data dokumentu",
    sv: "fakturadatum|datum|kvittodatum|fakt datum|datum tid|faktura datum",
    da: "fakturadato|dato|faktura dato|bilagsdato|kreditnotadato|dato tid",
    no: "fakturadato|dato|faktura dato|kreditnotadato",
    fi: "laskun pvm|paivays|laskupaiva|pvm|laskun paivays|paivamaara|laskun paivamaara|laskutuspaiva|laskupvm|laskutus pvm|laskun paiva",
    cs: "datum vystaveni|vystaveno|datum|datum vystaveni dokladu|vystaveno dne|datum vystaveni faktury|dat vystaveni|datum prodeje",
    tr: "fatura tarihi|tarih|duzenleme tarihi|duzenlenme tarihi|fis tarihi|belge tarihi",
    ja: "請求日|発行日|日付|請求書発行日|領収日|取引日|発行年月日|請求年月日|ご請求日|領収書発行日|発行日付|日時|取引日時",
    zh: "开票日期|日期|发票日期|开具日期|账单日期|開立日期|交易日期|開票日期|开票时间|發票日期|时间|下单时间|日期时间|开单日期",
    hu: "szamla kelte|kelt|kiallitas datuma|teljesites datuma",
    ro: "data facturii|data emiterii|data",
  },
});

export type PartyKind = "shipping" | "merchant" | "customer";

/** Headings above or beside the lines of a party. */
export const partyLabels = createPhraseTable<PartyKind>({
  shipping: {
    en: "ship to|shipped to|deliver to|delivery address|delivered to|shipping address|shipping to|delivery to|consignee|ship to address|delivering to|shipping information|shipping details",
    de: "lieferadresse|lieferanschrift|lieferung an|versandadresse|warenempfanger|lieferort",
    fr: "livre a|adresse de livraison|livraison a|livrer a|lieu de livraison|adresse livraison",
    es: "direccion de envio|enviar a|direccion de entrega|lugar de entrega|entregar a|enviado a",
    it: "indirizzo di consegna|spedire a|destinazione merce|luogo di destinazione|destinazione|consegna a|indirizzo di spedizione|luogo di consegna",
    pt: "endereco de entrega|morada de entrega|entregar em|local de entrega|local de descarga|morada de envio|enviar para",
    nl: "afleveradres|bezorgadres|leveradres|verzendadres|leveren aan",
    pl: "adres dostawy|odbiorca dostawy|miejsce dostawy|wysylka do",
    sv: "leveransadress|levereras till",
    da: "leveringsadresse|leveres til",
    no: "leveringsadresse|leveres til",
    fi: "toimitusosoite|toimitetaan",
    cs: "dodaci adresa|misto dodani|mista urceni|adresa dodani",
    tr: "teslimat adresi|teslim adresi|sevk adresi",
    ja: "納品先|お届け先|配送先|送付先",
    zh: "收货方|收货地址|送货地址|收貨地址|收货人",
  },
  merchant: {
    en: "from|seller|vendor|supplier|merchant|issued by|sold by|our details|biller|payee|bill from|service provider|provider|invoice from|billed by|pay to|remit to|supplied by|seller details|vendor details|supplier details|company details|invoiced by|payable to",
    de: "verkaufer|lieferant|rechnungssteller|absender|aussteller|leistungserbringer|von|anbieter|auftragnehmer|rechnung von|leistender",
    fr: "emetteur|vendeur|fournisseur|prestataire|de|societe|emis par|expediteur|facture par",
    es: "emisor|vendedor|proveedor|expedidor|empresa|datos del emisor|emitido por|de|datos del vendedor|datos de la empresa",
    it: "fornitore|mittente|emittente|cedente|cedente prestatore|venditore|prestatore|da|emessa da|emesso da",
    pt: "emitente|fornecedor|prestador|vendedor|prestador de servicos|prestador do servico|emissor|de|emitido por",
    nl: "leverancier|verkoper|van|afzender|factuur van",
    pl: "sprzedawca|wystawca|dostawca|sprzedajacy|od",
    sv: "saljare|leverantor|avsandare|fran",
    da: "saelger|leverandor|fra|afsender",
    no: "selger|leverandor|fra|avsender",
    fi: "myyja|toimittaja|laskuttaja|lahettaja",
    cs: "dodavatel|prodavajici|prodejce",
    tr: "satici|tedarikci|gonderen",
    ja: "請求元|発行元|発行者|差出人|販売元|発行事業者",
    zh: "销售方|卖方|销方|开票方|收款方|供应商|銷售方|賣方|商户|商户名称|销售方信息|销售方名称",
    hu: "elado|szallito|kibocsato",
    ro: "furnizor|vanzator",
  },
  customer: {
    en: "on account of|billed customer|ordered by|order placed by|sold to party|billed party|invoice issued to|invoice party|customer billed|bill recipient|account holder|your details|delivered and billed to|debtor|payable by|for the attention of|bill to|billed to|invoice to|invoiced to|sold to|customer|client|buyer|attn|attention|prepared for|to|billing address|invoice address|customer details|billing details|customer name|client name|recipient|charge to|guest|bill to party|purchaser|payer|bill to address|invoice for|issued to|buyer details|client details|guest name|customer information|billing information|customer address|for|billing to|details of receiver|details of receiver billed to|credit to|buyer bill to|receiver|invoice recipient",
    de: "kundin|empfangerin|kaufer in|kundenanschrift|anschrift des kunden|rechnungsempfangerin|geliefert an|rechnung geht an|debitor|zahlungspflichtiger|fur|auftraggeberin|rechnung an|rechnungsempfanger|kunde|rechnungsadresse|rechnungsanschrift|empfanger|auftraggeber|kaufer|leistungsempfanger|an|besteller|rechnung fur|kundendaten|kundenadresse|gutschrift an",
    fr: "doit|client facture|le client|destinataire de la facture|facturation a|adresse du client|debiteur|factures au|facture au client|societe cliente|donneur d ordre|facture a|adresse a|destinataire|client|adresse de facturation|facturer a|acheteur|adresse facturation|pour|a l attention de|adresse client|coordonnees client|facturation|avoir pour|factures a|vos coordonnees",
    es: "a nombre de|cliente facturado|facturar al|adquiriente|datos del comprador|datos del destinatario|factura a|senor es|deudor|titular|razon social del cliente|cliente|facturar a|datos del cliente|facturado a|destinatario|comprador|direccion de facturacion|receptor|senores|datos cliente|cliente nombre|adquirente|datos de facturacion|nombre del cliente|para",
    it: "intestata a|fattura intestata a|destinatario della fattura|dati del cliente|alla c a|egr|gent le|spett|debitore|alla cortese attenzione|fatturazione a|cliente|destinatario|spett le|spettabile|fatturare a|intestatario|cessionario|cessionario committente|intestazione|intestato a|fatturato a|committente|acquirente|spett le ditta|dati cliente|fattura a",
    pt: "emitida a|emitido a|sacado|dados do comprador|a atencao de|faturacao|fatura para|devedor|exmo s senhor es|nome cliente|titular|cliente|faturar a|destinatario|tomador|tomador de servicos|adquirente|exmo s sr s|faturado a|dados do cliente|exmos senhores|tomador do servico|exmo sr|comprador|exmos srs|nome do cliente|para|destinatario remetente|cobrar de|faturar para",
    nl: "geadresseerde|ontvanger|factuurontvanger|klant gegevens|gegevens klant|betaler|gefactureerd|factuur voor|klant|factuuradres|factuur aan|aan|debiteur|afnemer|klantgegevens|gefactureerd aan|opdrachtgever|koper|t a v",
    pl: "dane nabywcy|adresat|zleceniodawca|kontrahent|dluznik|faktura dla|dane klienta|nabywca|kupujacy|odbiorca|platnik|klient|dla|zamawiajacy",
    sv: "betalare|kunduppgifter|adressat|fakturerad till|till kund|kund|fakturaadress|fakturamottagare|faktureras till|kopare|till|faktureringsadress|mottagare|bestallare",
    da: "betaler|kundeoplysninger|adressat|faktureret til|debitor|rekvirent|kunde|faktureres til|kober|til|fakturaadresse|faktura til|modtager",
    no: "betaler|kundeopplysninger|adressat|fakturert til|debitor|bestiller|kunde|faktureres til|kjoper|til|fakturaadresse|faktura til|fakturamottaker|mottaker",
    fi: "maksaja|laskutettava|asiakastiedot|laskun maksaja|asiakkaan tiedot|asiakas|laskutusosoite|ostaja|laskun saaja|vastaanottaja|laskutetaan|tilaaja|laskun vastaanottaja",
    cs: "platce|udaje o zakaznikovi|adresat|konecny prijemce|fakturovano|odberatel|zakaznik|kupujici|prijemce|fakturacni adresa|objednatel",
    tr: "cari|alici firma|fatura alicisi|musteri adi|alici unvani|alici|musteri|sayin|fatura edilen|fatura adresi|alici bilgileri|musteri bilgileri",
    ja: "請求先|宛先|お客様|ご請求先|お客様名|得意先|宛名|ご依頼主",
    zh: "购买方|买方|客户|付款方|客户名称|购方|收票方|买方名称|購買方|客戶|致|购买方信息|购买方名称|买家|客户信息|付款单位",
    hu: "vevo|megrendelo",
    ro: "client|cumparator|beneficiar",
  },
});

export type TitleKind = "credit" | "receipt" | "other" | "invoice";

/** Titles of documents. */
export const titles = createPhraseTable<TitleKind>({
  credit: {
    en: "credit note|credit memo|credit memorandum|refund receipt|refund|credit invoice|tax credit note|adjustment note",
    de: "gutschrift|rechnungskorrektur|stornorechnung|korrekturrechnung|storno|gutschrift nr",
    fr: "avoir|facture d avoir|note de credit",
    es: "nota de credito|factura rectificativa|abono|factura de abono",
    it: "nota di credito|nota credito|nota di accredito",
    pt: "nota de credito",
    nl: "creditnota|creditfactuur|credit nota|credit factuur",
    pl: "faktura korygujaca|korekta|faktura korekta|korekta faktury|nota kredytowa",
    sv: "kreditfaktura|kreditnota|kredit faktura",
    da: "kreditnota|kreditfaktura",
    no: "kreditnota|kreditfaktura",
    fi: "hyvityslasku",
    cs: "dobropis|opravny danovy doklad",
    tr: "iade faturasi",
    ja: "返品伝票|赤伝票|返金明細書",
    zh: "红字发票|退款单|贷项通知单|折讓單",
  },
  receipt: {
    en: "receipt|sales receipt|cash receipt|guest check|payment receipt|customer receipt|till receipt|customer copy|merchant copy|order receipt|your receipt|sale receipt",
    de: "quittung|kassenbon|kassenbeleg|bon|kassenzettel|barbeleg|kundenbeleg|bewirtungsbeleg|kassabon|kassenquittung",
    fr: "recu|ticket|ticket de caisse|recu de paiement|ticket client",
    es: "recibo|tique|ticket de compra|factura simplificada|ticket|comprobante|boleta",
    it: "scontrino|documento commerciale|ricevuta|scontrino fiscale|ricevuta fiscale",
    pt: "talao|cupom fiscal|recibo|cupom|fatura simplificada",
    nl: "kassabon|kasticket|bonnetje|kwitantie",
    pl: "paragon|paragon fiskalny",
    sv: "kvitto|kassakvitto",
    da: "kvittering|kassebon|bon",
    no: "kvittering|salgskvittering",
    fi: "kuitti|kassakuitti",
    cs: "uctenka|paragon|prijmovy doklad|zjednoduseny danovy doklad",
    tr: "fis|perakende satis fisi|satis fisi|bilgi fisi",
    ja: "領収書|領収証|レシート",
    zh: "收据|小票|购物小票|收據|结账单",
  },
  other: {
    en: "statement|order|order confirmation|quote|quotation|estimate|delivery note|packing slip|page|copy|original|duplicate|welcome|welcome to|thank you|thank|thanks|remittance advice|paid|summary|order summary|bill of supply|original for recipient|powered by",
    de: "angebot|lieferschein|auftragsbestatigung|seite|kopie|original|willkommen|vielen dank|bestellung|mahnung",
    fr: "devis|bon de livraison|page|copie|bienvenue|merci|duplicata|bon de commande",
    es: "presupuesto|albaran|pagina|copia|bienvenido|gracias|original",
    it: "preventivo|pagina|copia|benvenuti|grazie|originale|ordine",
    pt: "orcamento|pagina|copia|bem vindo|obrigado|segunda via|original",
    nl: "offerte|pagina|kopie|welkom|bedankt|pakbon",
    pl: "oferta|strona|kopia|oryginal|duplikat|witamy|dziekujemy",
    sv: "offert|sida|kopia|valkommen|tack",
    da: "tilbud|side|kopi|velkommen|tak",
    no: "tilbud|side|kopi|velkommen|takk",
    fi: "tarjous|sivu|kopio|tervetuloa|kiitos",
    cs: "nabidka|strana|kopie|vitejte|dekujeme",
    tr: "teklif|sayfa|hosgeldiniz|tesekkurler",
    ja: "見積書|納品書|明細書|ページ|控え|ありがとうございます|毎度ありがとうございます",
    zh: "报价单|送货单|页|谢谢|欢迎光临|谢谢惠顾",
  },
  invoice: {
    en: "invoice|tax invoice|commercial invoice|pro forma invoice|proforma invoice|proforma|sales invoice|vat invoice|bill|invoice receipt|service invoice|gst invoice|final invoice|interim invoice|self billing invoice|utility bill|simplified tax invoice",
    de: "rechnung|schlussrechnung|abschlagsrechnung|teilrechnung|proformarechnung|faktura|honorarrechnung|honorarnote|rechnungskopie",
    fr: "facture|facture proforma|facture acquittee|facture de vente|note d honoraires|facture d acompte",
    es: "factura|factura proforma|factura electronica|factura comercial|factura de venta",
    it: "fattura|fattura elettronica|fattura proforma|fattura immediata|fattura differita|fattura accompagnatoria|parcella",
    pt: "fatura|factura|nota fiscal|nota fiscal eletronica|fatura recibo|fatura proforma|nota fiscal de servicos|danfe|nota fiscal de servicos eletronica|nfs e",
    nl: "factuur|proforma factuur|verkoopfactuur",
    pl: "faktura|faktura vat|faktura proforma|rachunek|faktura koncowa|faktura zaliczkowa",
    sv: "faktura|delfaktura|slutfaktura",
    da: "faktura|salgsfaktura",
    no: "faktura|salgsfaktura",
    fi: "lasku|myyntilasku",
    cs: "faktura|danovy doklad|faktura danovy doklad|zalohova faktura",
    tr: "fatura|e fatura|e arsiv fatura|satis faturasi|e arsiv",
    ja: "請求書|御請求書|ご請求書|適格請求書",
    zh: "发票|增值税专用发票|增值税普通发票|電子發票|电子发票|账单|形式发票|發票|帳單|统一发票|商业发票",
    hu: "szamla",
    ro: "factura|factura fiscala",
  },
});

/** Lines of a party that are not a part of its address. */
export const contactLine =
  /@|\bwww\.|https?:|^(?:tel|phone|ph|fax|mobile|mob|e-?mail|mail|web|vat|tax|ein|abn|acn|gst\w*|pan|siret|siren|tva|ust|uid|iva|p\.?\s?iva|nif|cif|rfc|cuit|rut|cnpj|cpf|nip|regon|krs|ico|dic|ičo|dič|ič|btw|kvk|che-?\d|cvr|org\.?|orgnr|moms|mva|y-tunnus|vkn|vergi|company|co\.?\s?reg|uen|cui|reg|iban|bic|swift|tél|telefon|telefono|teléfono|telefone|puh|tlf|tel[eé]f|登録|電話|电话|税号|開戶|开户|銀行|contact|attn|ape|naf|rcs|hrb|steuer|st\.?-?nr|gstin|cin|state code|place of supply|capital|au capital)(?![\p{L}])|\bvat\b|^\+?[\d\s().-]{8,}$/iu;

export const paymentMethods: readonly (readonly [RegExp, string])[] = [
  [/\bvisa\b/i, "visa"],
  [/\bmaster\s?card\b/i, "mastercard"],
  [/\b(?:amex|american express)\b/i, "american express"],
  [/\bmaestro\b/i, "maestro"],
  [
    /\b(?:credit|debit)\s+card\b|\bcarte\b|\bcb\b|\bec-?karte\b|\bgirocard\b|\bkarten?zahlung\b|\btarjeta\b|\bcarta\b|\bbancomat\b|\bcart[aã]o\b|\bpin\b|\bbankpas\b|\bkarta\b|\bkort\b|\bdankort\b|\bbankaxept\b|\bkortti\b|\bkredi kartı\b|\bcard\b|クレジット|银行卡|刷卡/iu,
    "card",
  ],
  [/\bpaypal\b/i, "paypal"],
  [
    /\b(?:bank|wire|electronic)\s+transfer\b|\bvirement\b|\bü?ueberweisung\b|\büberweisung\b|\bsepa\b|\btransferencia\b|\bbonifico\b|\btransferência\b|\boverschrijving\b|\bprzelew\b|\bbankgiro\b|\bplusgiro\b|\btilisiirto\b|\bbankoverførsel\b|\bbankovní(?:m)? převod\w*|\bhavale\b|\beft\b|\bach\b|\bbacs\b|\bneft\b|\brtgs\b|振込|銀行振込|转账|银行转账/iu,
    "bank transfer",
  ],
  [/\bdirect debit\b|\blastschrift\b|\bprélèvement\b|\bdomiciliación\b|\bincasso\b/iu, "direct debit"],
  [/\bche(?:que|ck)\b|\bchèque\b|\bassegno\b/iu, "check"],
  [
    /\bcash\b|\besp[eè]ces\b|\bbarzahlung\b|\bbar\b|\befectivo\b|\bcontanti\b|\bdinheiro\b|\bcontant\b|\bgotówka\b|\bkontant\w*|\bkäteinen\b|\bhotov\w+|\bnakit\b|現金|现金/iu,
    "cash",
  ],
];
