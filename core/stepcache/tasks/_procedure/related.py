"""What a general word covers and what comes with a tool, English and German. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["COVERED", "INSTANCES"]

# What a general word covers, and what comes with a tool. A step that speaks of one speaks of the other.
_ENGLISH = {
    "nut": "peanut almond walnut hazelnut pecan cashew pistachio macadamia",
    "dairy": "milk butter cream cheese yogurt yoghurt buttermilk ghee whey custard parmesan mozzarella cheddar ricotta",
    "lactose": "milk butter cream cheese yogurt yoghurt buttermilk",
    "gluten": "flour wheat bread pasta barley rye couscous semolina soy noodle breadcrumb",
    "meat": "beef pork chicken lamb bacon ham sausage turkey veal mince steak chorizo prosciutto duck",
    "seafood": "fish shrimp prawn crab mussel clam squid tuna salmon lobster scallop anchovy oyster",
    "fish": "salmon tuna cod trout anchovy haddock herring",
    "shellfish": "shrimp prawn crab mussel clam lobster scallop oyster",
    "alcohol": "wine beer rum vodka whisky whiskey brandy liqueur gin tequila bourbon sherry champagne",
    "sugar": "syrup honey sweetener molasses caramel",
    "sweetener": "sugar honey syrup",
    "fat": "oil butter lard margarine",
    "grain": "wheat rice oat barley rye corn flour bread pasta quinoa",
    "vegetable": "carrot onion pepper tomato zucchini broccoli spinach potato celery cabbage lettuce",
    "fruit": "apple banana berry strawberry lemon orange raisin grape mango peach pear cherry",
    "egg": "yolk omelette omelet meringue mayonnaise",
    "soy": "tofu tempeh edamame miso soybean",
    "car": "drive driving driver park parking motorway highway petrol toll",
    "oven": "bake baking baked preheat roast roasted broil",
    "blender": "blend blending blended puree",
    "mixer": "mix mixing beat beating whip whipping",
    "microwave": "microwaving microwaved",
    "stove": "burner hob simmer boil fry saute",
    "knife": "cut cutting slice slicing chop chopping dice dicing mince carve",
    "drill": "drilling drilled bore dowel anchor plug",
    "drilling": "bore dowel anchor plug",
    "hole": "drill drilling drilled bore dowel anchor plug",
    "screw": "screwdriver screwing",
    "nail": "hammer hammering",
    "hammer": "pound tap nail hammering",
    "glue": "gluing glued adhesive",
    "plane": "flight fly flying airport airline boarding",
    "flight": "fly flying airport airline plane boarding",
    "flying": "flight fly airport airline plane boarding",
    "train": "railway rail station",
    "internet": "online website web browser email download",
    "computer": "laptop pc desktop keyboard mouse click",
    "phone": "call calling text sms app dial",
    "smartphone": "phone app sms",
    "hotel": "check-in lobby reception",
    "cash": "coin banknote bill atm",
    "visa": "embassy consulate",
    "lawyer": "attorney solicitor",
    "attorney": "lawyer solicitor",
}
_GERMAN = {  # without umlauts, as stems
    "nuss": "erdnuss mandel walnuss haselnuss cashew pistazie pekannuss",
    "milchprodukt": "milch butter sahne kase joghurt quark rahm schmand",
    "laktose": "milch butter sahne kase joghurt quark",
    "gluten": "mehl weizen brot nudel dinkel roggen gerste griess",
    "fleisch": "rind schwein huhn hahnchen speck schinken wurst lamm hackfleisch pute",
    "fisch": "lachs thunfisch forelle kabeljau hering",
    "alkohol": "wein bier rum wodka likor schnaps sekt",
    "zucker": "honig sirup karamell",
    "fett": "ol butter margarine schmalz",
    "ei": "eigelb eiweiss eischnee eidotter dotter ruhrei spiegelei huhnerei eiklar",
    "auto": "fahren fahre fahrt parken parkplatz autobahn tanken maut",
    "ofen": "backofen backen vorheizen",
    "mixer": "mixen purieren puriere",
    "messer": "schneiden schneide hacken hacke wurfeln",
    "bohrmaschine": "bohren bohre bohrer bohrloch",
    "bohren": "bohrer bohrmaschine bohrloch dubel",
    "hammer": "nagel hammern einschlagen",
    "kleber": "kleben klebe klebstoff leim",
    "flugzeug": "flug fliegen flughafen",
    "zug": "bahn bahnhof schiene",
    "computer": "laptop rechner tastatur maus klicken",
    "handy": "telefon smartphone app anrufen",
    "internet": "online webseite website browser mail",
    "drucker": "drucken ausdrucken ausdruck",
}

COVERED: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType({
    language: {thing: tuple(words.split()) for thing, words in table.items()}
    for language, table in (("en", _ENGLISH), ("de", _GERMAN))
})

# The general words whose list holds instances: a reply "without nuts" must have no almonds either.
INSTANCES = frozenset({
    "nut", "dairy", "lactose", "meat", "seafood", "fish", "shellfish", "alcohol", "nuss", "milchprodukt", "laktose",
    "fleisch", "fisch", "alkohol",
})
